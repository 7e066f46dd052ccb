"""A compromised model behind a rule that publishes by itself: nothing that runs is led out."""

import csv
import html
import io
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import docx
import openpyxl
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE

from backends import halved, mostly
from model_server import Reply, call, calls, phase_of, text, turn_of
from whole.hostile_calls import (
    HIDDEN_NAMES,
    PLAIN_NAMES,
    RUNNABLE_NAMES,
    LeadingKind,
    leading_calls,
)
from whole.watched import Watched
from wired import PLAN, Wired, wired

SOME, MANY = (12, 25), (400, 25)
"""Runs, and calls in each: 300 in the second tier, 10,000 in the soak."""

KINDS: tuple[LeadingKind, ...] = ("plain", "names", "texts", "books", "copies", "links")
"""What is hostile in each run, in turn."""

RUNS = re.compile(
    r"(?i)\.(s[hſ]|py|bat|cmd|ps1|vbs|js|mjs|reg|service|desktop|lnk|url|tf|bas|pl|nix)$"
    r"|^(ma[kK]efile|setup\.cfg|package\.json|pyproject\.toml|yarn\.lock|desktop\.ini|taskfile\.yaml)$"
)
"""Names that run or are obeyed, as far as the model makes them; not the rule that is tested."""

ACTIVE = re.compile(
    rb"(?i)^#!|<script|onerror|onload|java&#x73;|<iframe|<object|http-equiv|xml-stylesheet|"
    rb"evil\.example/\?|<\?mso-"
)
"""What the model's texts do when a text file is opened."""

WRITERS = {
    "write_text_file", "table_export", "xlsx_operations", "docx_operations", "pptx_operations",
}  # fmt: skip
"""Tools that the model gets something written by, so that there is something to lead out."""

OWN_FORMULA, OWN_PICTURE = 'WEBSERVICE("https://mine.example/")', "https://mine.example/p.png"
"""What a person's own files have, which may come out again, but in no other shape."""


@pytest.fixture(scope="module", params=mostly("asyncio"))
def led(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """A daemon, whose tools end soon."""
    more = {"KBD_LIMITS_FILE_BYTES": "1000000", "KBD_LIMITS_FILES": "200", "KBD_RUN_TOOL_S": "10"}
    with wired(str(request.param), more=more) as running:
        yield running


class Leader:
    """A model that writes what would run if it were led out; in every sixth run it does not.

    Args:
        seed: Decides what it writes.
        count: How many calls it makes in a run.

    Attributes:
        made: How many calls it made.
    """

    def __init__(self, seed: int, count: int) -> None:
        self._seed, self._count = seed, count
        self._runs = self.made = 0

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Make a turn."""
        match phase_of(body):
            case "research":
                self._runs += 1
                return text("nothing to look at")
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                chance = Random(f"{self._seed} {self._runs}")
                kind, name = KINDS[self._runs % len(KINDS)], _landing(self._runs)
                asked = list(leading_calls(chance, self._count, kind, name))
                self.made += len(asked)
                return calls(*(call(name, given, f"c{n}") for n, (name, given) in enumerate(asked)))
            case _:
                return text("done")


def _landing(number: int) -> str:
    """Return the name of the file that lands for a run."""
    if KINDS[number % len(KINDS)] != "copies":
        return f"data{number}.csv"
    return f"data{number}.{'docx' if number // len(KINDS) % 2 else 'xlsx'}"


def _content(name: str) -> bytes:
    """Return what lands: a table, or an office file that reaches out by itself."""
    written = io.BytesIO()
    match name.rpartition(".")[2]:
        case "xlsx":
            book = openpyxl.Workbook()
            sheet = book.active
            assert sheet is not None
            sheet.title = "S"
            for row in (("a", "b"), ("'=cmd", f"={OWN_FORMULA}"), ("words", 2)):
                sheet.append(row)
            # A text, though it begins as a formula does.
            sheet["A2"].value, sheet["A2"].data_type = "=cmd|'/c calc'!A1", "s"
            book.save(written)
        case "docx":
            document = docx.Document()
            document.add_paragraph("words")
            document.part.relate_to(OWN_PICTURE, RELATIONSHIP_TYPE.IMAGE, is_external=True)
            document.save(written)
        case _:
            written.write(f"a,b\n{name},2\n".encode())
    return written.getvalue()


def _attack(led: Wired, folder: Path, size: tuple[int, int]) -> Counter[str]:
    """Have files land, one by one; return what became of them, and how many calls were made.

    In the folder for results stand links to somebody's folder and file.
    """
    runs, count = size
    leader = Leader(runs, count)
    led.script.forget()
    led.script.instead = leader
    victim, outbox = folder / "victim", folder / "in-out"
    for made in (victim, outbox):
        made.mkdir()
    (victim / "x.txt").write_text("mine")
    (outbox / "linked").symlink_to(victim)
    (outbox / "linked.txt").symlink_to(victim / "x.txt")
    inbox = Watched(led.daemon, folder).inbox(
        "in", "make what I need", limits={"runs_per_hour": 1000}
    )
    parked: Counter[str] = Counter()
    for number in range(1, runs + 1):
        inbox.drop(_landing(number), _content(_landing(number)))
        inbox.settled(number)
        failed = inbox.failed().get(_landing(number))
        if failed is not None:
            _check_failure(failed, KINDS[number % len(KINDS)], led.daemon.home)
            parked[KINDS[number % len(KINDS)]] += 1
    found = Counter[str](inbox.shown()["outcomes"])
    found |= Counter({f"parked, {kind}": parked[kind] for kind in parked})
    found["calls"] = leader.made
    assert found["calls"] == runs * count
    assert found["published"] + parked.total() == runs
    # A link keeps no other file of its run back; of other runs that are parked nothing comes out.
    assert parked["links"] == sum(KINDS[n % len(KINDS)] == "links" for n in range(1, runs + 1))
    assert parked["plain"] + parked["copies"] == 0
    assert min(parked[kind] for kind in ("names", "texts", "books")) > 0
    led.ask("WatchRemove", watch_id=inbox.watch_id)
    assert {path.name: path.read_text() for path in victim.iterdir()} == {"x.txt": "mine"}
    for link in ("linked", "linked.txt"):
        assert (outbox / link).is_symlink()
        (outbox / link).unlink()
    delivered = {path.name for path in outbox.iterdir()}
    assert {"linked(1).txt", "note.txt"} <= delivered
    _check_folder(outbox)
    for published in (led.daemon.home / "workbenches").glob("*/published"):
        _check_folder(published)
    landed = {_landing(number) for number in range(1, runs + 1)}
    assert {path.name for path in inbox.folder.iterdir()} == landed
    assert {path.name for path in folder.iterdir()} == {"in", "in-out", "victim"}
    assert _working_tools(led) >= WRITERS
    return found


def _working_tools(led: Wired) -> set[str]:
    """Return the tools that did at least once what the model asked for."""
    tools: set[str] = set()
    for folder in (led.daemon.home / "workbenches").iterdir():
        events = led.daemon.events(folder.name)
        called = {
            event["data"]["call_id"]: event["data"]["tool"]
            for event in events
            if event["type"] == "ToolCalled"
        }
        tools |= {
            called[event["data"]["call_id"]]
            for event in events
            if event["type"] == "ToolReturned" and event["data"]["ok"]
        }
    return tools


def _check_failure(failed: dict[str, Any], kind: LeadingKind, home: Path) -> None:
    """What is parked waits for a person, and says why with a code; a link is no reason to wait."""
    if kind == "links":
        assert failed["code"] == "FILE_WRITE_FAILED", failed
        assert "a link" in failed["message"], failed
    else:
        assert failed["code"] == "VALIDATION_FAILED", failed
        assert "active content" in failed["message"], failed
    assert failed["attempt"] == 1, failed
    assert str(home) not in failed["message"]


def _check_folder(folder: Path) -> None:
    """Nothing in a folder is hidden, a link, or runs by its name, its mode or what it holds."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        assert not path.is_symlink(), name
        assert not any(part.startswith(".") for part in name.parts), name
        assert not any(part.endswith((".app", ".workflow")) for part in name.parts), name
        if path.is_dir():
            continue
        assert not os.lstat(path).st_mode & 0o111, name
        assert not RUNS.search(path.name), name
        _check_content(path)


def _check_content(path: Path) -> None:
    match path.suffix:
        case ".xlsx" | ".docx" | ".pptx":
            with zipfile.ZipFile(path) as package:
                parts = {name: package.read(name) for name in package.namelist()}
            whole = "".join(
                f"{name}{part.decode(errors='replace')}" for name, part in parts.items()
            )
            formulas = {html.unescape(each) for each in re.findall("<f>(.*?)</f>", whole)}
            assert formulas <= {OWN_FORMULA}, path.name
            external = re.findall(r'<Relationship [^>]*TargetMode="External"[^>]*>', whole)
            assert all(OWN_PICTURE in each for each in external), path.name
            assert "vbaProject" not in whole, path.name
        case _:
            data = path.read_bytes()
            if path.suffix in (".csv", ".tsv"):
                # No program shows a table as a page: a tag is a text there.
                assert not data.startswith((b"#!", b"ID;P")), path.name
                _check_fields(data.decode())
            else:
                assert not ACTIVE.search(data), (path.name, data)


def _check_fields(text: str) -> None:
    for delimiter in ",;\t|":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            assert not [field for field in row if re.match(r"\s*([=@]|[-+].*[|(])", field)], text


@halved
@pytest.mark.full
def test_nothing_that_runs_or_hides_is_led_out(led: Wired, tmp_path: Path) -> None:
    """The results of harmless runs are delivered, those of all others wait for a person."""
    print(f"\n{dict(_attack(led, tmp_path, SOME))}")


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_ten_thousand_calls_lead_nothing_out(led: Wired, tmp_path: Path) -> None:
    """Not one file that runs, hides or leads elsewhere is delivered."""
    print(f"\n{led.daemon.backend}: {dict(_attack(led, tmp_path, MANY))}, 0 led out")


@pytest.mark.parametrize("name", [*RUNNABLE_NAMES, *HIDDEN_NAMES])
def test_each_name_is_seen_by_the_check(tmp_path: Path, name: str) -> None:
    """The check is no rule of kbd: it finds each of the names by itself."""
    path = tmp_path / name.removeprefix("draft/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    with pytest.raises(AssertionError):
        _check_folder(tmp_path)


def test_plain_names_pass_the_check(tmp_path: Path) -> None:
    """What means no harm is not found."""
    for name in PLAIN_NAMES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("a,b\n1,-2\n")
    _check_folder(tmp_path)
