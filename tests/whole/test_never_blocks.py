"""The daemon's event loop never waits for a disk, a process or a clock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from real_daemon import RealDaemon

DETECTOR = (
    "from blockbuster import BlockBuster; detector = BlockBuster('kbd'); "
    "[each.can_block_in('kbd/core/server/listener.py', {'serve'}) "
    "for each in detector.functions.values()]; detector.activate()"
)
"""Makes every blocking call that is reached from kbd's code within the event loop an error.

`serve` may: it makes the socket before there are clients, and removes it after the last one.
"""

PROMPT = "one sheet per category with Date, Amount sorted by date, and a summary sheet with totals"


@pytest.fixture
def watched(short_dir: Path) -> Iterator[RealDaemon]:
    """A daemon in which a blocking call is an error."""
    daemon = RealDaemon(short_dir / "h", "asyncio", preface=DETECTOR)
    daemon.start()
    yield daemon
    daemon.stop()


def test_a_whole_job_never_blocks_the_loop(watched: RealDaemon, tmp_path: Path) -> None:
    """From adding files to recovery after a kill no blocking call is made within the loop."""
    source = tmp_path / "data.csv"
    source.write_text("Date,Category,Amount\n2024-01-02,Food,1.50\n2024-01-01,Rent,900.00\n")
    workbench_id = watched.workbench(source)
    ask = {"workbench_id": workbench_id}
    run = watched.run_prompt(workbench_id, PROMPT)
    assert [item["state"] for item in run["items"]] == ["done"]
    assert len(watched.ask("ReviewGetChangeSet", **ask)["changes"]) == 1
    watched.ask("DraftPublish", **ask)
    out = str(tmp_path / "out")
    rows = watched.ask("WorkbenchFilesExtract", destination_dir=out, **ask)["extract_results"]
    assert [row["status"] for row in rows] == ["extracted", "extracted"]
    _ask_everything(watched, workbench_id)
    watched.ask("WorkbenchFilesRemove", workbench_paths=["data.csv"], **ask)
    watched.ask("WorkshopSendUserMessage", text="translate it", **ask)
    watched.kill()
    watched.start()
    watched.ask("WorkbenchDelete", **ask)
    watched.stop()

    said = watched.log.read_text()
    assert "Blocking call" not in said, said
    assert '"level": "error"' not in said, said


def _ask_everything(daemon: RealDaemon, workbench_id: str) -> None:
    for method in (
        "WorkshopGetConversation", "WorkbenchFilesList", "LogVerify", "DraftGetState",
        "EgressGetConsentStatus", "CheckpointsList", "WorkbenchOpen", "WorkshopGetState",
        "EventsRead", "LogHead", "WorkbenchGetScope", "WorkbenchGetDefaultModel",
    ):  # fmt: skip
        daemon.ask(method, workbench_id=workbench_id)
    for method in (
        "WorkbenchList", "RunList", "PluginsList", "ModelsListSupported", "ProvidersGetStatus",
        "ToolWorkerGetStatus", "rpc.discover",
    ):  # fmt: skip
        daemon.ask(method)
