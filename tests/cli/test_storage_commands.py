"""`kbd storage` and `kbd prune`, and ages as arguments."""

import json
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli.ages import days, seconds
from scripted_daemon import ScriptedDaemon

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

SHARES = dict.fromkeys(
    ("logs", "blobs", "published", "caches", "archives", "landed", "daemon", "index"), 0
)
ROW = {"workbench_id": "0123456789abcdef", "name": "taxes", "status": "idle", "disk_bytes": 2048}
PACKED = {**ROW, "status": "archived", "updated_at": "2026-10-03T09:30:00Z"}
FOUND: dict[str, Any] = {
    "total_bytes": 5120,
    "shares": {**SHARES, "blobs": 3072, "archives": 2048},
    "quota": {"status": "warned", "quota_bytes": 5500, "used_bytes": 5120, "warning_share": 0.9},
    "archived": 3,
    "workbenches": [
        {**ROW, "updated_at": "2026-10-01T09:30:00Z", "held": "a draft is open"},
        {**ROW, "updated_at": "2026-10-02T09:30:00Z", "archive_at": "2026-11-01T09:30:00Z"},
        {**PACKED, "remove_at": "2027-11-01T09:30:00Z"},
        {**PACKED, "held": "nobody looked at it"},
        PACKED,
    ],
    "total": 8,
    "watches": [{"watch_id": "f" * 16, "name": "in", "workbenches": 4, "disk_bytes": 1024}],
    "retention": [
        {"name": "[retention]", "archive_after_days": 30, "remove_after_days": 0},
        {"name": "watch 'in'", "archive_after_days": 0, "remove_after_days": 1},
    ],
    "upcoming": [
        {
            "workbench_id": "0123456789abcdef", "name": "taxes", "action": "archive",
            "size_bytes": 2048, "reason": "[retention] archive_after_days = 30",
            "due_at": "2026-11-01T09:30:00Z",
        }
    ],
    "notices": ["3 archives are removed from 2026-12-02 03:00 UTC on"],
}  # fmt: skip

PRUNED: dict[str, Any] = {
    "dry_run": False,
    "archived": 1,
    "archived_bytes": 2048,
    "archive_bytes": 512,
    "removed": 2,
    "removed_bytes": 1024,
    "kept": {"a draft is open": 4},
    "rows": [
        {
            "workbench_id": "0123456789abcdef", "name": "taxes", "action": "archive",
            "size_bytes": 2048, "reason": "kbd prune asked for it",
        }
    ],
    "total": 7,
}  # fmt: skip


def test_storage_tells_what_takes_the_disk(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """By what it is, by workbench with its fate, by watch; the rules, and what goes next."""
    daemon.answers["StorageGet"] = FOUND
    assert kbd("storage", "--limit", "2") == 0
    assert daemon.params_of("StorageGet") == {"limit": 2}
    assert capsys.readouterr().out.splitlines() == [
        "5.0 KiB on disk of a quota of 5.4 KiB, which is near",
        "      3.0 KiB  file versions",
        "      2.0 KiB  archives (3 workbenches)",
        "",
        "workbench                 disk     changed (UTC)     goes",
        "0123456789abcdef (taxes)  2.0 KiB  2026-10-01 09:30  stays: a draft is open",
        "0123456789abcdef (taxes)  2.0 KiB  2026-10-02 09:30  archived from 2026-11-01 09:30 on",
        (
            "0123456789abcdef (taxes)  2.0 KiB  2026-10-03 09:30"
            "  archived, removed from 2027-11-01 09:30 on"
        ),
        (
            "0123456789abcdef (taxes)  2.0 KiB  2026-10-03 09:30"
            "  archived, stays: nobody looked at it"
        ),
        "0123456789abcdef (taxes)  2.0 KiB  2026-10-03 09:30  archived",
        "and 3 more",
        "",
        "made by watch          workbenches  disk",
        "ffffffffffffffff (in)  4            1.0 KiB",
        "",
        "[retention]: archived after 30 days, none removed",
        "watch 'in': never archived, archives removed after 1 day",
        "",
        "from (UTC)        next     workbench                 takes    by",
        (
            "2026-11-01 09:30  archive  0123456789abcdef (taxes)  2.0 KiB"
            "  [retention] archive_after_days = 30"
        ),
        "! 3 archives are removed from 2026-12-02 03:00 UTC on",
    ]
    assert kbd("storage", "--json") == 0
    assert json.loads(capsys.readouterr().out) == FOUND


def test_prune_needs_a_yes(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Nobody can be asked here: nothing is done; with it the same is said that was done."""
    daemon.answers["StoragePrune"] = PRUNED
    assert kbd("prune", "--older", "90d") == 3
    assert "--yes" in capsys.readouterr().err
    assert kbd("prune", "--older", "12h", "--archives", "--yes") == 0
    asked = {"older_s": 43_200, "archives": True, "dry_run": False}
    assert daemon.params_of("StoragePrune") == asked
    assert capsys.readouterr().out.splitlines() == [
        "archive                   takes    because",
        "0123456789abcdef (taxes)  2.0 KiB  kbd prune asked for it",
        "  … and 2 more",
        "1 workbench of 2.0 KiB archived, which takes 512 bytes now",
        "2 archives of 1.0 KiB removed",
        "4 kept: a draft is open",
    ]


def test_a_dry_run_asks_nothing(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """And says that nothing was done."""
    daemon.answers["StoragePrune"] = {**PRUNED, "dry_run": True}
    assert kbd("prune", "--older", "90", "--dry-run") == 0
    asked = {"older_s": 90 * 86_400, "archives": False, "dry_run": True}
    assert daemon.params_of("StoragePrune") == asked
    out = capsys.readouterr().out
    assert "1 workbench of 2.0 KiB would be archived\n" in out
    assert out.endswith("Nothing was done.\n")


def test_ages_have_units() -> None:
    """Days where none is said; a number of days is whole."""
    assert [seconds(each) for each in ("90d", "12h", "2w", "1", "5m", "7s")] == [
        7_776_000, 43_200, 1_209_600, 86_400, 300, 7,
    ]  # fmt: skip
    assert [days(each) for each in ("30d", "48h", "0")] == [30, 2, 0]
    for wrong in ("", "-1d", "d", "1y", "1.5d", "99999999d", "٣d"):
        with pytest.raises(ArgumentTypeError):
            seconds(wrong)
    with pytest.raises(ArgumentTypeError):
        days("12h")
