"""The file of when logs were verified: the oldest comes first, and the file may be lost."""

from pathlib import Path

import pytest

from kbd.core.home_index.verified_logs import LogProgress, VerifiedLogs, VerifiedSummary
from kbd.types import BlobHash

A, B = BlobHash("a" * 64), BlobHash("b" * 64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file lies."""
    return tmp_path / "verified.sqlite3"


NOW_US = 1000


def in_order(logs: VerifiedLogs, due_before_us: int = NOW_US) -> list[str]:
    """Return the logs that are due, in the order in which they are verified."""
    found: list[str] = []
    while (progress := logs.next(due_before_us, found)) is not None:
        found.append(progress.log_id)
    return found


def test_the_order_is_by_what_was_verified_longest_ago(path: Path) -> None:
    """One that never was counts from when it was created; one that was begun comes first."""
    logs = VerifiedLogs(path)
    logs.reconcile({"a": 10, "b": 20, "c": 30}, NOW_US)
    assert in_order(logs) == ["a", "b", "c"]
    logs.finish("a", 25)
    assert in_order(logs) == ["b", "a", "c"]
    logs.reach(LogProgress("c", B, (A,)))
    assert in_order(logs) == ["c", "b", "a"]
    assert logs.next(NOW_US, ()) == LogProgress("c", B, (A,))
    logs.finish("c", 40)
    assert logs.next(NOW_US, ("a", "b")) == LogProgress("c")
    logs.close()


def test_only_what_is_due_is_verified(path: Path) -> None:
    """Not what was verified since; a time that has not come yet counts as now."""
    logs = VerifiedLogs(path)
    logs.reconcile({"a": 10, "b": 20, "c": 5000}, NOW_US)
    logs.finish("b", 2000)
    assert in_order(logs, due_before_us=5) == []
    assert in_order(logs, due_before_us=10) == ["a"]
    assert logs.summary(100) == VerifiedSummary(logs=3, overdue=1, oldest_at_us=10)
    logs.reconcile({"a": 10, "b": 20, "c": 5000}, NOW_US)
    assert in_order(logs) == ["a", "b", "c"]
    assert logs.verified_at_us("b") == NOW_US
    logs.close()


def test_it_knows_the_logs_there_are_and_no_others(path: Path) -> None:
    """What is known of those that stay is kept, over a restart, too."""
    logs = VerifiedLogs(path)
    logs.reconcile({"a": 10, "b": 20}, NOW_US)
    logs.finish("b", 50)
    logs.reconcile({"b": 20, "c": 30}, NOW_US)
    logs.set_share(77, is_begun=True)
    logs.close()
    again = VerifiedLogs(path)
    assert in_order(again) == ["c", "b"]
    assert (again.verified_at_us("b"), again.verified_at_us("a")) == (50, 0)
    assert again.share() == (77, True)
    again.close()


@pytest.mark.parametrize("harm", [b"", b"no database" * 1000, None])
def test_a_file_that_is_no_such_file_is_replaced(path: Path, harm: bytes | None) -> None:
    """By an empty one; where there can be no file, in memory."""
    if harm is None:
        path.mkdir()
    else:
        path.write_bytes(harm)
    logs = VerifiedLogs(path)
    assert logs.share() is None
    logs.reconcile({"a": 1}, NOW_US)
    assert in_order(logs) == ["a"]
    logs.close()
    logs.close()
