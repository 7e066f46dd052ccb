"""What a daemon that watches one folder tells the command line."""

from typing import Any

WATCH = "89abcdef01234567"

ROW: dict[str, Any] = {
    "watch_id": WATCH,
    "name": "invoices",
    "folder": "/data/invoices",
    "status": "active",
    "created_at": "2026-01-02T03:04:05Z",
    "hints": "system",
    "landed": 12,
    "waiting": 1,
    "running": 1,
    "failed": 1,
    "outcomes": {"published": 8, "failed": 2},
    "publish": "auto",
    "deliver_to": "/data/out",
    "on_outcome": [],
    "restored": False,
}

RULE: dict[str, Any] = {
    "folder": "/data/invoices",
    "prompt": "total by month",
    "patterns": ["*.csv", "!old*"],
    "mode": "file",
    "quiet_s": 2.0,
    "deliver_to": "/data/out",
    "publish": "auto",
    "limits": {
        "runs_per_hour": 100, "runs_per_path_hour": 5, "chain_depth": 3, "batch_files": 100,
    },
    "on_failure": {"retries": 2, "wait_s": 60.0, "then": "park"},
    "on_outcome": [],
}  # fmt: skip

FAILED: dict[str, Any] = {
    "landing_id": 41,
    "path": "march.csv",
    "size_bytes": 2048,
    "landed_at": "2026-01-02T03:04:05Z",
    "stage": "parked",
    "attempt": 3,
    "code": "PROVIDER_UNAVAILABLE",
    "message": "the provider\x1b[2J answered 503",
    "watch_id": WATCH,
    "watch_name": "invoices",
    "actions": [f"kbd watch failed {WATCH} --retry 41"],
}

ANSWERS: dict[str, Any] = {
    "WatchList": {"watches": [ROW]},
    "WatchAdd": {"watch_id": WATCH, "passed_over": 0, "waiting": 0},
    "WatchGet": {"watch": {**ROW, "rule": RULE, "landings": [], "recent": []}},
    "WatchPause": {"watch": ROW},
    "WatchResume": {"watch": ROW},
    "WatchRemove": {"removed": True},
    "WatchFailedList": {"failed": [FAILED], "total": 1, "suspended": []},
    "WatchFailedRetry": {"landing_ids": [41]},
    "WatchFailedDismiss": {"landing_ids": [41]},
    "UserGetDefaultModel": {"model_id": "offline:planner"},
}
"""To each request; its default model stays on this machine."""
