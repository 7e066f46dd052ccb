"""A daemon that tells one run, for tests of walking through it; texts in it are hostile."""

import base64
import hashlib
import json
from typing import Any

import msgspec

from kbd.core.audit.steps import fold_steps
from kbd.events.base import ReplyCall
from kbd.events.codec import wrap_event
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import (
    ItemCompleted,
    ItemStarted,
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    PlanWritten,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import UserMessageAdded
from kbd.messages import Usage
from kbd.requests.replays import FileAt, RunAt, StateAt, StateFound, Step
from kbd.types import BlobHash, CallId, FileName, Phase, RunId, Seq
from scripted_daemon import AnswerError, Notify
from scripted_job import RUN, WORKBENCH, run_info, workbench

__all__ = ["BLOBS", "HOSTILE", "answers", "told_steps"]

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eevil"
"""What would clear a screen, rename a window and turn a line around."""

OPENING = json.dumps(
    [{"role": "system", "text": "You work."}, {"role": "user", "text": "<item>write</item>"}]
)
LONG = json.dumps({"rows": [[number, f"row {number}"] for number in range(400)]})


def _blob(text: str) -> BlobHash:
    return BlobHash(hashlib.sha256(text.encode()).hexdigest())


BLOBS = {_blob(text): text for text in (OPENING, LONG, "one\ntwo\n", "one\nthree\n")}
"""What the log names."""

_READ = ReplyCall(CallId("c1"), "read_file", '{"path": "報告書.txt"}')
_WRITE = ReplyCall(CallId("c2"), "write_text_file", '{"path": "a.txt", "content": "one\\nthree"}')
_NAME = FileName("a.txt")

_FACTS: tuple[tuple[Event, int], ...] = (
    (UserMessageAdded("u-1", f"tidy up {HOSTILE}"), 0),
    (RunStarted("u-1", "x:y"), 1),
    (PhaseStarted(Phase.PLAN), 1),
    (PlanWritten("t", ("Entity: One — tidy the needle", "Two")), 1),
    (PhaseStarted(Phase.IMPLEMENT), 1),
    (ItemStarted(1), 1),
    (ModelRequested("x:y", 1, _blob(OPENING), tools=("read_file", "write_text_file")), 1),
    (ModelReplied("first I look", (_READ,), "tool_calls", Usage(1200, 34)), 1),
    (ToolCalled(CallId("c1"), 1, "read_file", "kbd_files 0.1.0"), 1),
    (
        ToolReturned(
            CallId("c1"), 1, ok=True, shown=f"a receipt {HOSTILE}", blob=_blob(LONG),
            size_bytes=len(LONG), duration_ms=1500,
        ),
        1,
    ),
    (ModelRequested("x:y", 2, _blob(OPENING)), 1),
    (ModelReplied("", (_WRITE,), "tool_calls"), 1),
    (ToolCalled(CallId("c2"), 2, "write_text_file"), 1),
    (DraftOpened("d"), 1),
    (
        FileChanged(
            _NAME, _blob("one\ntwo\n"), _blob("one\nthree\n"), 10, 8, CallId("c2"),
            warnings=("fetches",),
        ),
        1,
    ),
    (ToolReturned(CallId("c2"), 2, ok=True, shown='{"path":"a.txt"}'), 1),
    (ItemCompleted(1, "the needle is tidy"), 1),
    (ItemStarted(2), 1),
    (ModelRequested("x:y", 1, _blob(OPENING)), 1),
)  # fmt: skip


def told_steps() -> list[Step]:
    """Return the run's steps; its last one is open."""
    log = [(Seq(seq), wrap_event(fact, seq, run)) for seq, (fact, run) in enumerate(_FACTS, 1)]
    return fold_steps(1, log)


def answers(page: int = 5) -> dict[str, Any]:
    """Return what a daemon answers of the run.

    Args:
        page: How many steps it tells at a time.
    """
    steps = msgspec.to_builtins(told_steps())

    def tell(asked: dict[str, Any], _: Notify) -> Any:
        after = asked.get("after", 0)
        return {
            "run": run_info("running"),
            "request": f"tidy up {HOSTILE}",
            "steps": steps[after : after + page],
            "total": len(steps),
        }

    def blob(asked: dict[str, Any], _: Notify) -> Any:
        text = BLOBS[asked["hash"]].encode()
        part = text[asked["offset"] : asked["offset"] + 1000]
        return {
            "base64": base64.b64encode(part).decode(),
            "size_bytes": len(text),
            "has_more": asked["offset"] + 1000 < len(text),
        }

    return {
        "WorkbenchList": {"workbenches": [workbench()]},
        "RunList": {"runs": [run_info("running")]},
        "ReplaySteps": tell,
        "BlobRead": blob,
        "StateAt": _moment,
    }


def _moment(asked: dict[str, Any], _: Notify) -> Any:
    request = msgspec.convert(asked, StateAt)
    if request.seq > len(_FACTS):
        raise AnswerError("NOT_FOUND", f"the log ends at event {len(_FACTS)}")
    state = "modified" if request.seq >= 15 else "published"
    folder = request.destination_dir
    found = StateFound(
        workbench_id=WORKBENCH,
        seq=request.seq,
        ts="2026-01-02T03:04:05.000000Z",
        name="taxes",
        state_hash="ab" * 32,
        files=(
            FileAt(path=_NAME, state=state, size_bytes=10, hash=_blob("one\nthree\n")),  # type: ignore[arg-type]
            FileAt(path=FileName("gone.txt"), state="deleted", size_bytes=0, hash=None),
        ),
        run=RunAt(
            run_id=RunId(RUN), status="running", phase=Phase.IMPLEMENT, item=1, attempt=1,
            research="", plan="# Execution Plan", summary="", usage=Usage(),
        ),
        destination="" if isinstance(folder, msgspec.UnsetType) else folder,
    )  # fmt: skip
    return msgspec.to_builtins(found)
