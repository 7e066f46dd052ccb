"""Runs of the everyday prompts played in this process, with the real tools and without a daemon.

What the tools tell of given files is the same for each request about them, so it is looked up once.
"""

import csv
import io
import json
import re
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import msgspec
from openpyxl import load_workbook

from kbd.errors import KbdError
from kbd.tools import ToolResult
from kbd_offline.answers import NOT_DONE
from providers.offline.playing import Player
from providers.offline.prompt_judge import PromptEntry, PromptOutcome, Verdict, judge
from providers.offline.prompt_tables import PROMPTS, PromptTables

__all__ = ["PlayedShop", "PromptRun", "is_question", "read_sheets", "told_by_kind"]

VERDICTS: tuple[Verdict, ...] = ("right", "asked", "declined", "wrong")
_LOOKS = ("get_file_info", "table_get_map", "table_describe", "table_query")
"""Tools that only look at files, and tell the same of the same ones."""


class PromptRun(msgspec.Struct, frozen=True):
    """A run of an entry: what it led to and what that is worth."""

    entry: PromptEntry
    outcome: PromptOutcome
    verdict: Verdict


class _LookingPlayer(Player):
    """A player that looks at the same files only once.

    Args:
        root: A folder for the workbench.
        files: Names and contents of its files.
        known: What was told of these files by then, by tool and arguments; it grows.
    """

    def __init__(self, root: Path, files: dict[str, str | bytes], known: dict[str, str]) -> None:
        super().__init__(root, files)
        self._known = known

    async def _result(self, name: str, arguments: dict[str, Any]) -> str:
        if name not in _LOOKS:
            return await super()._result(name, arguments)
        key = json.dumps([name, arguments], sort_keys=True)
        if key not in self._known:
            self._known[key] = await super()._result(name, arguments)
        return self._known[key]

    def _shown(self, name: str, result: ToolResult) -> str:
        # Whole: a receipt would be of this player's calls alone.
        return msgspec.json.encode(result.value).decode()


class PlayedShop:
    """Plays entries, each in a workbench of its own.

    Args:
        folder: Where the files of each entry are put.
        prompts: The folder of the prompts.
    """

    def __init__(self, folder: Path, prompts: Path = PROMPTS) -> None:
        self._folder = folder
        self._cache = folder / "cache"
        self._cache.mkdir()
        self._tables = PromptTables(datetime.now(UTC).date(), prompts)
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    def run(self, entry: PromptEntry) -> PromptRun:
        """Play an entry and judge what it led to."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            paths = self._tables.stage(entry.files, Path(folder))
            given: dict[str, str | bytes] = {path.name: path.read_bytes() for path in paths}
            known = self._known.setdefault(entry.files, {})
            root = Path(folder) / "workbench"
            root.mkdir()
            # What tables were loaded into is found by their bytes, so it is that of all.
            (root / "cache").symlink_to(self._cache)
            player = _LookingPlayer(root, given, known)
            outcome = anyio.run(self._outcome, player, entry.request)
        return PromptRun(entry, outcome, judge(entry, outcome, self._tables))

    async def _outcome(self, player: Player, request: str) -> PromptOutcome:
        try:
            played = await player.run(request)
        except KbdError as failed:
            return PromptOutcome("failed", answer=failed.message)
        if played.summary.startswith(NOT_DONE) or "declined" in played.ends:
            asked = is_question(played.summary.replace(request, ""))
            return PromptOutcome("asked" if asked else "declined", answer=played.summary)
        files = player.workbench.files
        written = {name: read_sheets(files.get(name).path, name) for name in player.written()}
        return PromptOutcome("finished", written, played.summary)


def is_question(answer: str) -> bool:
    """Tell whether an answer asks something, outside what it gives to type."""
    return "?" in re.sub(r"`[^`]*`|\"[^\"]*\"", "", answer)


def read_sheets(path: Path, name: str) -> dict[str, list[list[Any]]]:
    """Return the rows of each sheet of a file; of formulas what was stored as their results.

    Args:
        path: Where its bytes are.
        name: What it is called.
    """
    match Path(name).suffix:
        case ".xlsx":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                book = load_workbook(io.BytesIO(path.read_bytes()), data_only=True)
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
