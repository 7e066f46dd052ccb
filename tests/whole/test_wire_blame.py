"""Blame over the socket and at the command line: who touched a place, and what is not known."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from backends import mostly
from wired import Wired, wired

FIRST = "zero one two\nthree four five\nsix seven eight\n"
SECOND = "zero one two\nthree FOUR five\nsix seven eight\n"
THIRD = "new line here\nzero one two\nthree FOUR FIVE\nsix seven eight\n"


@pytest.fixture(scope="module", params=mostly("trio"))
def bench(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Wired) -> None:
    bench.script.forget()


def _blame(bench: Wired, wb: str, place: Any, path: str = "a.txt", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = bench.ask(
        "ReviewGetBlame", workbench_id=wb, path=path, place=place, **more
    )
    return found


def _chain(found: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(step["kind"], step.get("before"), step.get("after")) for step in found["chain"]]


def test_a_chain_has_message_item_call_and_values(bench: Wired) -> None:
    """From the draft back to the person's file; the place is followed where it was shifted."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=SECOND)
    bench.ask("DraftPublish", workbench_id=wb)
    bench.draft(wb, a__txt=THIRD)
    found = _blame(bench, wb, "line 3")

    assert found["complete"]
    assert found["place"] == {"title": "line 3", "line": 3}
    assert _chain(found) == [
        ("tool_call", "three FOUR five", "three FOUR FIVE"),
        ("tool_call", "three four five", "three FOUR five"),
        ("added", None, "three four five"),
    ]
    newest = found["chain"][0]
    told = {name: newest[name] for name in ("run_id", "message", "item", "item_text", "tool")}
    assert told == {
        "run_id": f"{wb}-2", "message": "write", "item": 1, "item_text": "Write",
        "tool": "write_text_file",
    }  # fmt: skip
    assert [step["place"]["line"] for step in found["chain"]] == [3, 2, 2]
    # A place as a change has it, and one that only has a title, are the same place.
    assert _blame(bench, wb, {"title": "line 3", "line": 3}) == found
    assert _blame(bench, wb, {"title": "line 3"}) == found
    limited = _blame(bench, wb, "line 3", limit=1)
    assert (len(limited["chain"]), limited["complete"]) == (1, False)
    # What is published has the same makers, without the draft's.
    bench.ask("DraftDiscard", workbench_id=wb)
    assert _blame(bench, wb, "line 2")["chain"] == found["chain"][1:]


def test_a_line_that_a_call_added_begins_there(bench: Wired) -> None:
    """Its chain is that call alone."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=THIRD, b__txt="made")

    assert _chain(_blame(bench, wb, "line 1")) == [("tool_call", None, "new line here")]
    assert _chain(_blame(bench, wb, "line 1", "b.txt")) == [("tool_call", None, "made")]


def test_a_deleted_file_tells_who_removed_it(bench: Wired) -> None:
    """In the diff, and as the newest step of its last version's places."""
    wb = bench.workbench(a__txt=FIRST, c__txt="x")
    bench.draft(wb, a__txt=SECOND, c__txt="y")
    bench.ask("DraftPublish", workbench_id=wb)
    bench.draft(wb, c__txt="z")
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["a.txt"])
    found = _blame(bench, wb, "line 2")
    diff = bench.ask("ReviewGetDiff", workbench_id=wb, path="a.txt")

    assert [step["kind"] for step in found["chain"]] == ["removed", "tool_call", "added"]
    removal = found["chain"][0]["seq"]
    assert {change["made_by"]["seq"] for change in diff["changes"]} == {removal}
    assert {change["made_by"]["tool"] for change in diff["changes"]} == {""}


def test_a_fork_says_what_was_there_before_it(bench: Wired) -> None:
    """What it took over has no maker there; what is done in it has."""
    wb = bench.workbench(a__txt=FIRST)
    bench.draft(wb, a__txt=SECOND)
    bench.ask("DraftPublish", workbench_id=wb)
    forked = bench.ask("WorkbenchFork", source_workbench_id=wb, mode="clone_all", name="fork")[
        "workbench_id"
    ]
    bench.draft(forked, a__txt=THIRD)

    assert [s["kind"] for s in _blame(bench, forked, "line 3")["chain"]] == ["tool_call", "forked"]
    assert [s["kind"] for s in _blame(bench, forked, "line 2")["chain"]] == ["forked"]


def test_a_lost_version_leaves_its_neighbors_in_doubt(bench: Wired) -> None:
    """No maker is named, the diff says so, and the chain is not complete."""
    wb = bench.workbench(a__txt=FIRST)
    for content in (SECOND, SECOND.replace("eight", "EIGHT"), THIRD):
        bench.draft(wb, a__txt=content)
    changed = [e["data"] for e in bench.daemon.events(wb) if e["type"] == "FileChanged"]
    blobs = bench.daemon.home / "workbenches" / wb / "blobs"
    (lost,) = [path for path in blobs.rglob("*") if path.name.endswith(changed[1]["after"][4:])]
    lost.unlink()
    diff = bench.ask("ReviewGetDiff", workbench_id=wb, path="a.txt")
    makers = {c["after"]: c.get("made_by", {}).get("run_id") for c in diff["changes"]}

    assert makers == {"new line here": None, "three FOUR FIVE": None}
    assert diff["warnings"] == ["it is not certain who made 2 of the 2 changes"]
    assert not _blame(bench, wb, "line 3")["complete"]
    unchanged = bench.ask("ReviewGetDiff", workbench_id=wb, path="a.txt", made_by=False)
    assert unchanged["warnings"] == []


@pytest.mark.parametrize(
    ("place", "path", "reason"),
    [
        ("line 99", "a.txt", "line 99 is not one of them"),
        ("nowhere", "a.txt", ""),
        ({"title": "x", "line": 2**60}, "a.txt", "out of range"),
        ("line 1", "a.bin", "cannot be"),
        ("line 1", "none.txt", "there is no file 'none.txt'"),
        ("line 1", "../a.txt", ""),
        ("", "a.txt", ""),
    ],
)
def test_what_is_no_place_is_refused(bench: Wired, place: Any, path: str, reason: str) -> None:
    """With the reason; a file whose format tells none as well."""
    wb = bench.workbench(a__txt=FIRST, a__bin="x")
    error = bench.refused("ReviewGetBlame", workbench_id=wb, path=path, place=place)

    assert reason in error.message


def _kbd(bench: Wired, *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "kbd", "--home", str(bench.daemon.home), "blame", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_tells_the_chain(bench: Wired) -> None:
    """The workbench may be left out where only one has the file."""
    wb = bench.workbench(only__txt=FIRST)
    bench.draft(wb, only__txt=SECOND)
    done = _kbd(bench, "only.txt", "line 2")
    lines = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:2] == ["line 2 in only.txt", ""]
    assert lines[2] == "three four five -> three FOUR five"
    assert lines[3] == f'  run {wb}-1, item 1 "Write"'
    assert lines[4].startswith("  write_text_file (entry 1, event ")
    assert lines[5:7] == ['  for the message "write"', ""]
    assert lines[7] == "three four five  came with the file that a person added"
    told = json.loads(_kbd(bench, wb, "only.txt", "line 2", "--json").stdout)
    assert told == _blame(bench, wb, "line 2", "only.txt")
    bench.workbench(only__txt=FIRST)
    several = _kbd(bench, "only.txt", "line 2")
    assert (several.returncode, "name one first" in several.stderr) == (1, True)
    assert _kbd(bench, "only.txt").returncode == 2


def test_a_line_that_was_only_moved_names_the_step(bench: Wired) -> None:
    """With where it stood; its text has the maker that it had."""
    lines = [f"{word} is a line of its own\n" for word in ("alder", "birch", "cedar", "elm")]
    wb = bench.workbench(a__txt="".join(lines))
    bench.draft(wb, a__txt="".join([*lines[1:], lines[0]]))
    found = _blame(bench, wb, "line 4")

    assert [(s["kind"], s.get("moved_from")) for s in found["chain"]] == [
        ("tool_call", {"title": "line 1", "line": 1}),
        ("added", None),
    ]
    shifted = _blame(bench, wb, "line 2")
    assert [step["kind"] for step in shifted["chain"]] == ["added"]
    told = _kbd(bench, wb, "a.txt", "line 4").stdout.splitlines()
    assert told[2] == "moved from line 1"
