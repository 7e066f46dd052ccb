"""A home of kbd 0.1, whose runs have no record of how tables were read, in the kbd of today."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from logs.make_home import FILES, HOME
from real_daemon import RealDaemon

pytestmark = pytest.mark.full


@pytest.fixture
def daemon(short_dir: Path) -> Iterator[RealDaemon]:
    """A daemon of today in a copy of the old home."""
    with ZipFile(HOME) as packed:
        packed.extractall(short_dir / "h")
    running = RealDaemon(short_dir / "h")
    running.start()
    yield running
    running.stop()


def kbd(daemon: RealDaemon, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def workbench(daemon: RealDaemon, name: str) -> str:
    """Return the id of a workbench."""
    found = daemon.ask("WorkbenchList")["workbenches"]
    return next(str(each["id"]) for each in found if each["name"] == name)


def fields(divergence: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What differs of a divergence's one table: its name, then, now."""
    (table,) = divergence["readings"]
    assert not table["is_recorded"]
    return [(each["path"], each["recorded"], each["replayed"]) for each in table["fields"]]


FLOAT_NOW_ASKED = [('column "Betrag"', '"float"', '"string"')]
FLOAT_NOW_WHOLE = [('column "Betrag"', '"float"', '"integer"')]
TOTAL_GONE = [("rows", "4", "3")]
POLISH_NOW_SPANISH = [("encoding", '"cp1250"', '"cp1252"')]

EXPECTED: list[tuple[str, str, list[tuple[str, str, str]]]] = [
    ("table_get_map", "rent.csv", FLOAT_NOW_ASKED),
    ("table_get_map", "rates.csv", FLOAT_NOW_WHOLE),
    ("table_get_map", "orders.csv", TOTAL_GONE),
    ("table_get_map", "names.csv", POLISH_NOW_SPANISH),
    # Its map has the field that tells of the reading now, and the log does not have it.
    ("table_get_map", "plain.csv", []),
    ("table_describe", "rent.csv", FLOAT_NOW_ASKED),
    ("table_stats", "orders.csv", TOTAL_GONE),
    ("table_read_rows", "names.csv", POLISH_NOW_SPANISH),
    # Neither a query nor an export shows how its table was read; the maps of the run do.
    ("table_query", "rent.csv", FLOAT_NOW_ASKED),
    ("table_query", "rates.csv", FLOAT_NOW_WHOLE),
    ("table_query", "orders.csv", TOTAL_GONE),
    ("table_export", "orders.csv", TOTAL_GONE),
]
"""The calls that do not come out as recorded, and how the table of each was and is read."""


def test_a_replay_says_which_readings_changed(daemon: RealDaemon) -> None:
    """Each call names its file, what of its reading differs, and how it is read today."""
    before = contents(daemon.home / "workbenches" / workbench(daemon, "tables"))
    found = daemon.ask("ReplayRun", run_id=f"{workbench(daemon, 'tables')}-1")
    told = [(d["tool"], d["readings"][0]["path"], fields(d)) for d in found["divergences"]]

    assert told == EXPECTED
    assert (found["calls"], found["equal"], found["skipped"]) == (len(EXPECTED) + 2, 2, [])
    for divergence, (_, _, differing) in zip(found["divergences"], EXPECTED, strict=True):
        assert ("reading" in divergence["what"]) == bool(differing)
    settings = {
        d["readings"][0]["path"]: d["readings"][0]["settings"] for d in found["divergences"]
    }
    assert set(settings) == set(FILES)
    assert settings["rent.csv"]["questions"] == "decimal of Betrag"
    assert settings["rates.csv"]["decimal"] == ","
    assert settings["orders.csv"]["left_out"] == "total of the rows above: 1 (row 5)"
    # What was recorded is not touched: it is what it was, right or wrong.
    assert contents(daemon.home / "workbenches" / workbench(daemon, "tables")) == before

    printed = kbd(daemon, "replay", "tables", "--verify")
    assert printed.returncode == 1
    assert "  rent.csv was read differently, as the results of the run show:" in printed.stdout
    assert '    column "Betrag": "float" then, "string" now' in printed.stdout
    assert 'questions "decimal of Betrag"' in printed.stdout
    assert "orders.csv: rows" in printed.stdout


def contents(root: Path) -> dict[str, bytes]:
    """The log and the file versions of a workbench."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for part in ("log", "blobs", "published", "draft")
        for path in sorted((root / part).rglob("*"))
        if path.is_file()
    }


def test_what_is_only_looked_at_is_as_it_was(daemon: RealDaemon, tmp_path: Path) -> None:
    """Log, files, review and steps are told of the runs of then, and files to the byte."""
    assert kbd(daemon, "verify").returncode == 0
    for words in (("wb", "show"), ("review",), ("log",), ("replay",), ("conversation",)):
        done = kbd(daemon, *words, "tables")
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (words, done.stderr)
        assert done.stdout, words
    assert "row 4  Total | 42" in kbd(daemon, "review", "tables").stdout

    there = tmp_path / "then"
    last = daemon.ask("EventsRead", workbench_id=workbench(daemon, "tables"), limit=1)["last_seq"]
    done = kbd(daemon, "replay", "tables", "--at", str(last), "--out", str(there))
    assert done.returncode == 0, done.stderr
    # The draft of then has the figures of then.
    assert b"Total,42" in (there / "files" / "out" / "orders.csv").read_bytes()
    for name, data in FILES.items():
        assert (there / "published" / name).read_bytes() == data


def test_a_run_that_was_cut_off_goes_on(daemon: RealDaemon) -> None:
    """Its calls of then are not made again; items of a plan that nobody reads any more fail.

    The offline provider of then planned an item for each sheet; that of today plans one job.
    """
    cut = workbench(daemon, "cut")
    (run,) = daemon.ask("RunList", workbench_id=cut)["runs"]
    assert run["status"] == "interrupted"
    before = daemon.events(cut)

    done = kbd(daemon, "send", "cut", "--resume", "--yes")
    assert done.returncode == 1, done.stderr
    assert "can only carry out plans that it made itself" in done.stderr
    assert "The draft waits" in done.stderr
    events = daemon.events(cut)
    assert events[: len(before)] == before
    assert [e["type"] for e in events].count("RunFinished") == 1
    returned = [e for e in events if e["type"] == "ToolReturned"]
    assert all(e["seq"] <= len(before) and "noted" not in e["data"] for e in returned)

    found = daemon.ask("ReplayRun", run_id=run["run_id"])
    # Only the map of then, which had no reading.
    (other,) = found["divergences"]
    assert (other["tool"], other["what"], fields(other)) == (
        "table_get_map", ["result", "shown"], []
    )  # fmt: skip
    assert kbd(daemon, "verify").returncode == 0


def test_caches_of_then_are_neither_read_nor_kept(daemon: RealDaemon) -> None:
    """A map and a table are those of today; old tables go when the next one is made."""
    tables = workbench(daemon, "tables")
    cache = daemon.home / "workbenches" / tables / "cache"
    old = {path.name for path in cache.glob("tables-*")}
    assert len(old) == 2 * len(FILES)

    found = daemon.ask("TabularGetMap", workbench_id=tables, path="orders.csv")
    assert (found["row_count"], found["reading"]["left_out"][0]["count"]) == (3, 1)
    now = {path.name for path in cache.glob("tables-*")}
    assert len(now) == 2
    assert not now & old
    arguments = {"path": "names.csv"}
    mapped = daemon.ask("ToolsCall", workbench_id=tables, name="get_file_map", arguments=arguments)
    assert mapped["reading"]["encoding"] == "cp1252"


def test_a_damaged_cache_of_then_is_no_matter(daemon: RealDaemon) -> None:
    """Whatever lies under an old name, a table is read from its file."""
    tables = workbench(daemon, "tables")
    for path in (daemon.home / "workbenches" / tables / "cache").iterdir():
        if path.is_file():
            path.write_bytes(b"no table")
    found = daemon.ask("TabularGetMap", workbench_id=tables, path="plain.csv")
    assert found["row_count"] == 2
