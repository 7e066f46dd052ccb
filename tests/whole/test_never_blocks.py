"""The daemon's event loop never waits for a disk, a process or a clock."""

from pathlib import Path

from real_daemon import RealDaemon

DETECTOR = (
    "from blockbuster import BlockBuster; detector = BlockBuster('kbd'); "
    "[each.can_block_in('kbd/core/server/transport.py', {'serve'}) "
    "for each in detector.functions.values()]; detector.activate()"
)
"""Makes every blocking call that is reached from kbd's code within the event loop an error.

`serve` may: it makes the socket before there are clients, and removes it after the last one.
"""

PROMPT = "one sheet per category with Date, Amount sorted by date, and a summary sheet with totals"


def test_a_whole_job_never_blocks_the_loop(short_dir: Path, tmp_path: Path) -> None:
    """From adding files to extracting the result no blocking call is made within the loop."""
    source = tmp_path / "data.csv"
    source.write_text("Date,Category,Amount\n2024-01-02,Food,1.50\n2024-01-01,Rent,900.00\n")
    home = short_dir / "h"
    daemon = RealDaemon(home, "asyncio", preface=DETECTOR)
    workbench_id = ""
    for _ in range(2):  # the second start recovers what the first one left
        daemon.start()
        workbench_id = daemon.workbench(source)
        ask = {"workbench_id": workbench_id}
        run = daemon.run_prompt(workbench_id, PROMPT)
        assert [item["state"] for item in run["items"]] == ["done"] * 3
        assert len(daemon.ask("ReviewGetChangeSet", **ask)["changes"]) == 1
        daemon.ask("DraftPublish", **ask)
        out = str(tmp_path / "out")
        rows = daemon.ask("WorkbenchFilesExtract", destination_dir=out, **ask)["extract_results"]
        assert [row["status"] for row in rows] == ["extracted", "extracted"]
        for method in (
            "WorkshopGetConversation", "WorkbenchFilesList", "LogVerify", "DraftGetState",
            "EgressGetConsentStatus", "CheckpointsList", "WorkbenchOpen", "WorkshopGetState",
        ):  # fmt: skip
            daemon.ask(method, **ask)
        for method in ("WorkbenchList", "RunList", "PluginsList", "ModelsListSupported"):
            daemon.ask(method)
        daemon.ask("WorkbenchFilesRemove", workbench_paths=["data.csv"], **ask)
        daemon.ask("WorkshopSendUserMessage", text="translate it", **ask)
        daemon.kill()
    daemon.start()
    daemon.ask("WorkbenchDelete", workbench_id=workbench_id)
    daemon.stop()

    said = daemon.log.read_text()
    assert "Blocking call" not in said, said
    assert '"level": "error"' not in said, said
