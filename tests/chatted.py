"""`kbd chat` against a scripted daemon: what it answers beyond a job, and lines typed into it."""

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from scripted_daemon import Notify
from scripted_job import RUN, WORKBENCH

__all__ = ["answers", "deltas", "said", "typed"]


def said(role: str, text: str, message_id: str) -> dict[str, Any]:
    """A message as `WorkshopGetConversation` tells it."""
    return {
        "type": f"{role}_message", "role": role, "text": text, "message_id": message_id,
        "created_at": "2026-01-02T03:04:05Z", "seq": 3,
    }  # fmt: skip


def answers() -> dict[str, Any]:
    """The answers that a conversation needs, to be put beside those of a whole job."""
    model = {"active_model_id": "openai:x", "default_model_id": "openai:x"}
    return {
        "EventsSubscribe": {"workbench_id": WORKBENCH},
        "EventsUnsubscribe": {"unsubscribed": True},
        "EventsRead": {"events": [], "last_seq": 0},
        "LogHead": {"seq": 7, "hash": "0" * 64},
        "ModelsListSupported": {"models": [], "open_providers": ["openai"]},
        "ProvidersGetStatus": {"providers": []},
        "StateAt": {"files": [], "draft_id": ""},
        "WorkbenchFilesList": {
            "files": [{"path": "a.csv", "size": 10, "file_kind": "table", "mime_type": "text/csv"}],
        },
        "WorkbenchOpen": {"workbench": {"id": WORKBENCH}},
        "WorkshopGetState": {**model, "has_draft": False, "run_id": None},
        "WorkspaceReloadIndex": {
            "num_docs": 1, "num_chunks": 2, "embedded": 0, "embedder": "", "warnings": [],
        },
    }  # fmt: skip


def deltas(*pieces: str) -> Callable[[dict[str, Any], Notify], dict[str, Any]]:
    """A run whose summary comes in these pieces."""

    def run(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        told = {"workbench_id": WORKBENCH, "message_id": "m", "phase": "summary"}
        for piece in pieces:
            notify("WorkshopAssistantStreamDelta", {**told, "token_delta": piece})
        notify("WorkshopRunFinished", {**told, "status": "finished", "run_id": RUN})
        return {"run_id": RUN, "message_id": "m1", "status": "running"}

    return run


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Have these lines come from a pipe."""
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
