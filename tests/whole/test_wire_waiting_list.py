"""The list of what waits for a person, over many workbenches and for who follows all logs."""

from collections.abc import Iterator

import pytest

from backends import mostly
from wired import Wired, wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.mark.full
def test_hundreds_wait_in_one_list(wire: Wired) -> None:
    """Over all workbenches, after a kill, too; what is decided leaves it, and nothing else does."""
    wanted: dict[str, str] = {}
    for _ in range(60):
        wb = wire.workbench(old__txt="o")
        for path in ("a.txt", "b.txt", "c.txt"):
            write = {"path": path, "content": "1"}
            wire.ask("ToolsCall", workbench_id=wb, name="write_text_file", arguments=write)
        wire.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["old.txt"])
        for path in ("a.txt", "b.txt", "c.txt", "old.txt"):
            asked = wire.ask("ApprovalRequest", workbench_id=wb, paths=[path])["approvals"]
            wanted |= {row["approval_id"]: wb for row in asked}
    assert len(wanted) == 300
    wire.daemon.kill()
    wire.daemon.start()
    found = wire.ask("ApprovalList")["approvals"]
    assert wanted.items() <= {row["approval_id"]: row["workbench_id"] for row in found}.items()
    assert [row["asked_at"] for row in found] == sorted(row["asked_at"] for row in found)
    decided = [
        row
        for row in found
        if row["approval_id"] in wanted and row["files"][0]["path"] != "old.txt"
    ][::7]
    for number, row in enumerate(decided):
        decision = "decline" if number % 2 else "accept"
        wire.ask("ApprovalDecide", approval_id=row["approval_id"], decision=decision)
    left = wire.ask("ApprovalList")["approvals"]
    assert left == [row for row in found if row not in decided]
