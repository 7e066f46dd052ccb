"""The answers of a daemon that does a whole job at once: one file is added to a draft."""

from pathlib import Path
from typing import Any

from scripted_daemon import Notify

__all__ = ["ADDED", "RUN", "WORKBENCH", "run_info", "whole_job", "workbench"]

WORKBENCH = "0123456789abcdef"
RUN = f"{WORKBENCH}-1"


def workbench(**changes: Any) -> dict[str, Any]:
    """A workbench as `WorkbenchList` tells it."""
    return {
        "id": WORKBENCH,
        "name": "taxes",
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "has_draft": True,
        "files": 1,
        "last_seq": 7,
        "disk_bytes": 2048,
        **changes,
    }


def run_info(status: str = "finished", **changes: Any) -> dict[str, Any]:
    """A run as `RunGet` tells it."""
    return {
        "run_id": RUN,
        "workbench_id": WORKBENCH,
        "request": "one sheet per category",
        "model_id": "offline:planner",
        "status": status,
        "phase": "summary",
        "items": [],
        "usage": {"input_tokens": 40_000, "output_tokens": 1_200},
        "cost": 0.0812,
        "started_at": "2026-01-02T03:04:05Z",
        **changes,
    }


ADDED = {
    "path": "summary.xlsx",
    "change_type": "added",
    "file_kind": "spreadsheet",
    "preview_kind": "grid",
    "size_bytes": 4096,
    "warnings": [],
    "run_id": RUN,
    "items": [1, 2],
}


INFO = {
    "engine_version": "0.1.0",
    "api_version": "1",
    "backend": "asyncio",
    "home": "/home/kbd",
    "pid": 4711,
    "plugins": [],
    "workbenches": 1,
    "uptime_s": 3725.5,
    "search": {"embedder": "", "reason": "none is set up"},
}

CONSENTED = {
    "consented": True,
    "provider_id": "offline",
    "model_id": "offline:planner",
    "scope_hash": "abc",
    "persisted": False,
    "mode": "ask",
}

PUBLISHED = {
    "published_at": "2026-01-02T03:04:05Z",
    "checkpoint_id": "c1",
    "published": ["summary.xlsx"],
    "kept_both": [],
}

NO_CHANGES: dict[str, Any] = {
    "path": "summary.xlsx",
    "reference_source": "draft_start_snapshot",
    "baseline_missing": False,
    "reference_label": "Reference (Draft start)",
    "changes": [],
    "total": 0,
    "has_more": False,
    "counts": [],
    "warnings": [],
}
"""The comparison of a file that is the same inside."""

NO_DELETIONS: dict[str, Any] = {"confirmed": [], "pending": []}


def _added(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
    results = [
        {"source_path": path, "file_name": Path(path).name, "status": "added"}
        for path in params["source_paths"]
    ]
    return {"add_results": results}


def _extracted(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
    results = [
        {
            "workbench_path": path,
            "status": "extracted",
            "final_path": f"{params['destination_dir']}/{path}",
        }
        for path in params.get("workbench_paths", ["a.csv"])
    ]
    return {"extract_results": results}


def whole_job() -> dict[str, Any]:
    """The answers by method, for `ScriptedDaemon`; nothing leaves the machine."""
    answer = {"type": "assistant_message", "text": "Made one sheet a category."}
    return {
        "ContextList": {"items": []},
        "DraftDiscard": {"discarded": True},
        "DraftPublish": PUBLISHED,
        "EgressGetConsentStatus": CONSENTED,
        "EgressGrantWorkshopConsent": {"consented": True},
        "EngineGetInfo": INFO,
        "ProvidersGetStatus": {"providers": []},
        "ReviewGetChangeSet": {"draft_id": "d1", "changes": [ADDED]},
        "ReviewGetDiff": NO_CHANGES,
        "ReviewGetDeletionConfirmations": NO_DELETIONS,
        "ReviewSetDeletionConfirmations": NO_DELETIONS,
        "RunGet": run_info(),
        "RunList": {"runs": []},
        "WatchList": {"watches": []},
        "WorkbenchCreate": {"workbench_id": WORKBENCH},
        "WorkbenchDelete": {"deleted": True},
        "WorkbenchFilesAdd": _added,
        "WorkbenchFilesExtract": _extracted,
        "WorkbenchFilesList": {
            "files": [{"path": "a.csv", "size": 10, "file_kind": "table"}],
        },
        "WorkbenchFilesSetReading": {"path": "a.csv", "read_as": {}},
        "WorkbenchGetQuestions": {"questions": []},
        "WorkbenchList": {
            "workbenches": [workbench()],
            "daemon_disk_bytes": 1024,
            "landed_disk_bytes": 0,
        },
        "WorkshopCancelRun": {"cancel_requested": True},
        "WorkshopGetConversation": {"messages": [answer]},
        "WorkshopRunAgent": {"run_id": RUN, "message_id": "m1", "status": "running"},
        "WorkshopSendUserMessage": {"message_id": "m1"},
        "WorkshopSetActiveModel": {"active_model_id": "x:y"},
    }
