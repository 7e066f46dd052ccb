"""Runs of the everyday prompts through the real daemon, judged, as a table by kind.

python -m tests.whole.prompt_runs [--ids ID …] [--kind KIND …] [--from FOLDER] [--verbose]
"""

import argparse
import csv
import io
import json
import re
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from openpyxl import load_workbook

# Run as a module the roots of the tests are not there yet.
sys.path.insert(0, str(Path(__file__).parents[1]))

from providers.offline.prompt_judge import (
    PromptEntry,
    PromptOutcome,
    Verdict,
    judge,
    load_entries,
)
from providers.offline.prompt_tables import PROMPTS, PromptTables
from real_daemon import RealDaemon

__all__ = ["PromptRun", "PromptShop", "main", "told_by_kind"]

MODEL = "offline:planner"
VERDICTS: tuple[Verdict, ...] = ("right", "asked", "declined", "wrong")


class PromptRun(msgspec.Struct, frozen=True):
    """A run of an entry: what it led to and what that is worth."""

    entry: PromptEntry
    outcome: PromptOutcome
    verdict: Verdict


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
                    files[path.name] = read_sheets(path)
        if run["status"] != "declined":
            return PromptOutcome("finished", files, said)
        asked = _is_question(said.replace(run["request"], ""))
        return PromptOutcome("asked" if asked else "declined", answer=said)


def _is_question(answer: str) -> bool:
    """Whether an answer asks something, outside what it gives to type."""
    return "?" in re.sub(r"`[^`]*`|\"[^\"]*\"", "", answer)


def read_sheets(path: Path) -> dict[str, list[list[Any]]]:
    """Return the rows of each sheet of a file; of formulas what was stored as their results."""
    match path.suffix:
        case ".xlsx":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                book = load_workbook(path, data_only=True)
            return {sheet.title: [list(row) for row in sheet.values] for sheet in book.worksheets}
        case ".json" | ".jsonl" as suffix:
            text = path.read_text(encoding="utf-8")
            listed = json.loads(text) if suffix == ".json" else [
                json.loads(line) for line in text.splitlines()
            ]  # fmt: skip
            names = list(dict.fromkeys(name for row in listed for name in row))
            return {"": [names, *([row.get(name) for name in names] for row in listed)]}
        case ".csv" | ".tsv":
            text = path.read_text(encoding="utf-8-sig")
            first = text.split("\n", 1)[0]
            separator = max(",;\t", key=first.count)
            return {"": [list(row) for row in csv.reader(io.StringIO(text), delimiter=separator)]}
        case _:
            return {}


def told_by_kind(runs: Sequence[PromptRun]) -> str:
    """Return a table by kind, the whole below it, and the names of those that are wrong."""
    kinds: dict[str, list[PromptRun]] = defaultdict(list)
    for run in runs:
        kinds[run.entry.kind].append(run)
    lines = [
        f"{'kind':12}{'runs':>6}" + "".join(f"{verdict:>10}" for verdict in VERDICTS) + "  wrong"
    ]
    for kind, part in [*sorted(kinds.items()), ("all", list(runs))]:
        counts = [sum(run.verdict == verdict for run in part) for verdict in VERDICTS]
        wrong = [run.entry.id for run in part if run.verdict == "wrong"] if kind != "all" else []
        lines.append(
            f"{kind:12}{len(part):>6}" + "".join(f"{count:>10}" for count in counts)
            + f"  {' '.join(wrong)}".rstrip()
        )  # fmt: skip
    for name, part in (
        ("", list(runs)),
        (" with a result", [run for run in runs if run.entry.sql]),
    ):
        right = sum(run.verdict == "right" for run in part)
        lines.append(f"{right} of {len(part)}{name} right ({right / max(1, len(part)):.1%})")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the entries that were asked for and print the table; 1 if one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", nargs="*", default=[], help="only these entries")
    parser.add_argument("--kind", nargs="*", default=[], help="only these kinds")
    parser.add_argument("--from", dest="folder", type=Path, default=PROMPTS, help="other prompts")
    parser.add_argument("--verbose", action="store_true", help="what was said of each not right")
    chosen = parser.parse_args(arguments)
    entries = [
        entry
        for entry in load_entries(chosen.folder)
        if (not chosen.ids or entry.id in chosen.ids)
        and (not chosen.kind or entry.kind in chosen.kind)
    ]
    runs = []
    with PromptShop.opened(chosen.folder) as shop:
        for entry in entries:
            runs.append(shop.run(entry))
            if chosen.verbose and runs[-1].verdict != "right":
                print(f"{runs[-1].verdict}: {entry.id}: {entry.request}\n  {runs[-1].outcome}\n")
    print(told_by_kind(runs))
    return int(any(run.verdict == "wrong" for run in runs))


if __name__ == "__main__":
    sys.exit(main())
