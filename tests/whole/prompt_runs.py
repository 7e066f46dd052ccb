"""Runs of the everyday prompts through the real daemon, judged, as a table by kind.

python -m tests.whole.prompt_runs [--ids ID …] [--kind KIND …] [--from FOLDER] [--verbose] [--fast]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

# Run as a module the roots of the tests are not there yet.
sys.path.insert(0, str(Path(__file__).parents[1]))

from providers.offline.prompt_judge import (
    PromptEntry,
    PromptOutcome,
    judge,
    load_entries,
)
from providers.offline.prompt_plays import (
    PlayedShop,
    PromptRun,
    is_question,
    read_sheets,
    told_by_kind,
)
from providers.offline.prompt_tables import PROMPTS, PromptTables
from real_daemon import RealDaemon

__all__ = ["PromptShop", "main"]

MODEL = "offline:planner"


class PromptShop:
    """A daemon that runs entries, each in a workbench of its own.

    Args:
        daemon: It.
        folder: Where the files of each entry are put.
        tables: The tables.
    """

    def __init__(self, daemon: RealDaemon, folder: Path, tables: PromptTables) -> None:
        self._daemon, self._folder, self._tables = daemon, folder, tables

    @classmethod
    @contextmanager
    def opened(cls, prompts: Path = PROMPTS) -> Iterator["PromptShop"]:
        """Start a daemon in a folder that goes afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="kbd-"))
        daemon = RealDaemon(folder / "home", environment={"KBD_MODEL": MODEL})
        try:
            daemon.start()
            yield cls(daemon, folder, PromptTables(datetime.now().astimezone().date(), prompts))
        finally:
            daemon.stop()
            shutil.rmtree(folder, ignore_errors=True)

    def run(self, entry: PromptEntry) -> PromptRun:
        """Run an entry and judge what it led to."""
        folder = self._folder / entry.id
        folder.mkdir()
        sources = self._tables.stage(entry.files, folder)
        workbench_id = self._daemon.workbench(*sources, name=entry.id)
        run = self._daemon.run_prompt(workbench_id, entry.request)
        outcome = self._outcome(
            workbench_id, run, {path.name: path.read_bytes() for path in sources}
        )
        return PromptRun(entry, outcome, judge(entry, outcome, self._tables))

    def _outcome(
        self, workbench_id: str, run: dict[str, Any], sources: dict[str, bytes]
    ) -> PromptOutcome:
        if run["status"] == "failed":
            return PromptOutcome("failed", answer=str(run.get("error")))
        found = self._daemon.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
        said = [str(one["text"]) for one in found if one["type"] == "assistant_message"][-1]
        files: dict[str, dict[str, list[list[Any]]]] = {}
        if self._daemon.ask("DraftGetState", workbench_id=workbench_id)["has_draft"]:
            self._daemon.ask("DraftPublish", workbench_id=workbench_id)
            published = self._daemon.home / "workbenches" / workbench_id / "published"
            for path in sorted(published.rglob("*")):
                if path.is_file() and sources.get(path.name) != path.read_bytes():
                    files[path.name] = read_sheets(path, path.name)
        if run["status"] != "declined":
            return PromptOutcome("finished", files, said)
        asked = is_question(said.replace(run["request"], ""))
        return PromptOutcome("asked" if asked else "declined", answer=said)


@contextmanager
def _opened(prompts: Path, *, is_fast: bool) -> Iterator[PromptShop | PlayedShop]:
    if is_fast:
        with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
            yield PlayedShop(Path(folder), prompts)
        return
    with PromptShop.opened(prompts) as shop:
        yield shop


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the entries that were asked for and print the table; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", nargs="*", default=[], help="only these entries")
    parser.add_argument("--kind", nargs="*", default=[], help="only these kinds")
    parser.add_argument("--from", dest="folder", type=Path, default=PROMPTS, help="other prompts")
    parser.add_argument("--verbose", action="store_true", help="what was said of each not right")
    parser.add_argument("--fast", action="store_true", help="in this process, without a daemon")
    chosen = parser.parse_args(arguments)
    entries = [
        entry
        for entry in load_entries(chosen.folder)
        if (not chosen.ids or entry.id in chosen.ids)
        and (not chosen.kind or entry.kind in chosen.kind)
    ]
    runs = []
    with _opened(chosen.folder, is_fast=chosen.fast) as shop:
        for entry in entries:
            runs.append(shop.run(entry))
            if chosen.verbose and runs[-1].verdict != "right":
                print(f"{runs[-1].verdict}: {entry.id}: {entry.request}\n  {runs[-1].outcome}\n")
    print(told_by_kind(runs))
    return int(any(run.verdict == "wrong" for run in runs))


if __name__ == "__main__":
    sys.exit(main())
