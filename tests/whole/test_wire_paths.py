"""Hostile paths over the socket: every parameter of every method and tool answers with a code."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends import mostly
from kbd.client.blocking import Client, RemoteError
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from whole.path_calls import PathCall, is_path, method_calls, name_calls, tool_calls
from wired import MODEL, Wired, wired

NOT_CALLED = {"DaemonShutdown"}

INTERNAL = -32603
"""The code of a fault inside."""


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend, with a loop of links in the user's folder."""
    with wired(str(request.param), more={"KBD_RUN_TOOL_S": "5"}) as running:
        (running.folder / "loop").symlink_to("loop")
        yield running


def _usual(wire: Wired, workbench_id: str) -> dict[str, Any]:
    """What a parameter is given that is not the hostile one."""
    return {
        "workbench_id": workbench_id,
        "source_workbench_id": workbench_id,
        "run_id": f"{workbench_id}-1",
        "path": "t.csv",
        "source_path": "t.csv",
        "target_path": "t.csv",
        "target": str(wire.folder / "no" / "such" / "target"),
        "folder": str(wire.folder / "watched"),
        "model_id": MODEL,
        "provider_id": "openai",
        "seq": 1,
        "key": "none",
        "category": "situation",
        "query": "SELECT 1",
        "format": "csv",
    }


def _tools() -> dict[str, Any]:
    """Return the arguments of each tool."""
    catalog = Catalog(Plugins.discover(Settings()))
    described = [msgspec.to_builtins(entry.schema) for entry in catalog.tools()]
    return {each["name"]: each["parameters"] for each in described}


class _Answers:
    """What came of calls, counted; whatever an answer must not be fails at once."""

    def __init__(self, wire: Wired, client: Client) -> None:
        self._wire, self._client = wire, client
        self.found: Counter[str] = Counter()

    def ask(self, method: str, params: dict[str, Any], call: PathCall) -> None:
        """Make one call and look at its answer."""
        shown = (call.name, call.parameter, call.kind)
        answer, refused = self._answer(method, params)
        if refused is None:
            code = "ok"
            if is_path(call.parameter):
                _check_refused_by_item(call, answer)
                code = "refused one by one"
        else:
            told = f"{refused.message} {json.dumps(refused.data)}"
            code = refused.error_code or str(refused.code)
            assert refused.code != INTERNAL, (shown, told)
            for place in (str(self._wire.folder), str(self._wire.daemon.home), "Traceback"):
                assert place not in told, (shown, told)
        self.found[code] += 1

    def _answer(self, method: str, params: dict[str, Any]) -> tuple[Any, RemoteError | None]:
        try:
            return self._client.send(method, params), None
        except RemoteError as error:
            return None, error


def _check_refused_by_item(call: PathCall, answer: dict[str, Any]) -> None:
    """Files are added and extracted one by one: each says what became of it."""
    rows = [row for value in answer.values() if isinstance(value, list) for row in value]
    told = [row.get("status") for row in rows if isinstance(row, dict)]
    assert told or call.name in TOLERANT, (call, answer)
    assert set(told) <= {"skipped", "failed"}, (call, answer)


TOLERANT = {"WorkbenchFilesExtract", "WorkbenchFilesRemove"}
"""Methods that answer for names that are not there without an error."""


@pytest.mark.full
def test_every_text_of_every_method_may_be_a_hostile_path(wire: Wired) -> None:
    """NUL, loops, 5,000 bytes, 256 bytes, 1,000 levels and more: a code, or an ordinary answer.

    A parameter that is a path gets a code, or a status by item, whatever the text.
    """
    workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
    wire.draft(workbench_id, made__txt="x")
    (wire.folder / "watched").mkdir()
    usual = _usual(wire, workbench_id)
    with wire.daemon.client() as client:
        answers = _Answers(wire, client)
        document = wire.ask("rpc.discover")
        made = [
            call
            for call in method_calls(document, usual, str(wire.folder))
            if call.name not in NOT_CALLED
        ]
        for call in made:
            answers.ask(call.name, call.arguments, call)
    paths = sum(is_path(call.parameter) for call in made)
    print(f"\n{len(made)} calls of methods, {paths} with a path: {dict(answers.found)}")
    assert paths > 400
    assert {path.name for path in wire.folder.iterdir() if not path.name.isdigit()} == {
        "loop", "watched",
    }  # fmt: skip
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]


@pytest.mark.full
def test_every_text_of_every_tool_may_be_a_hostile_path(wire: Wired) -> None:
    """The same for tools, whose paths are names in a workbench."""
    workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
    usual = _usual(wire, workbench_id)
    with wire.daemon.client() as client:
        answers = _Answers(wire, client)
        made = list(tool_calls(_tools(), usual, str(wire.folder)))
        for call in made:
            named = {"workbench_id": workbench_id, "name": call.name, "arguments": call.arguments}
            answers.ask("ToolsCall", named, call)
    paths = sum(is_path(call.parameter) for call in made)
    print(f"\n{len(made)} calls of tools, {paths} with a path: {dict(answers.found)}")
    assert paths > 150
    assert wire.files(workbench_id) == ["t.csv"]


def test_no_tool_takes_an_illegal_name(wire: Wired) -> None:
    """Whatever it is: nothing is opened, nothing is made, and the code says why."""
    workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
    usual = _usual(wire, workbench_id)
    with wire.daemon.client() as client:
        answers = _Answers(wire, client)
        for call in name_calls(_tools(), usual):
            named = {"workbench_id": workbench_id, "name": call.name, "arguments": call.arguments}
            answers.ask("ToolsCall", named, call)
    print(f"\nillegal names: {dict(answers.found)}")
    # Where the arguments do not fit for another reason, that may be told first.
    assert set(answers.found) == {"SANDBOX_VIOLATION", "VALIDATION_FAILED"}
    assert answers.found["SANDBOX_VIOLATION"] > 400
    assert wire.files(workbench_id) == ["t.csv"]


def _draft(wire: Wired, workbench_id: str, name: str, content: str) -> dict[str, Any]:
    return dict(
        wire.ask(
            "ToolsCall", workbench_id=workbench_id, name="write_text_file",
            arguments={"path": name, "content": content},
        )
    )  # fmt: skip


def test_twins_of_a_name_are_one_file(wire: Wired) -> None:
    """Case and the two spellings of an accent make no second file (A27, A28)."""
    workbench_id = wire.workbench()
    _draft(wire, workbench_id, "caf\u00e9.txt", "x")
    _draft(wire, workbench_id, "cafe\u0301.txt", "y")
    for twin in ("CAF\u00c9.txt", "Cafe\u0301.TXT"):
        refused = wire.refused(
            "ToolsCall", workbench_id=workbench_id, name="write_text_file",
            arguments={"path": twin, "content": "x"},
        )  # fmt: skip
        assert "exists already" in refused.message
    assert wire.files(workbench_id) == ["caf\u00e9.txt"]
    theirs = [wire.file("CAF\u00c9.TXT"), wire.file("cafe\u0301.txt")]
    assert [status for status, _ in wire.add(workbench_id, *theirs)] == ["skipped", "skipped"]


def test_names_that_are_no_text_are_passed_over(wire: Wired) -> None:
    """In published/ and in a source's folder, they break no listing and no answer (A33)."""
    workbench_id = wire.workbench(a__txt="x")
    bad = os.fsencode(wire.published(workbench_id)) + b"/bad\xff.txt"
    Path(os.fsdecode(bad)).write_text("x")
    assert wire.files(workbench_id) == ["a.txt"]
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
    wire.draft(workbench_id, b__txt="made")
    wire.ask("DraftPublish", workbench_id=workbench_id)
    assert wire.files(workbench_id) == ["a.txt", "b.txt"]
    assert Path(os.fsdecode(bad)).read_text() == "x"


@pytest.mark.parametrize("which", ["draft", "published"])
def test_a_folder_that_is_replaced_by_a_link_leads_nowhere(wire: Wired, which: str) -> None:
    """A run, a publish and an undo go on; the folder that the link leads to is as it was (A39).

    What cannot be shown is told in the daemon's own log, and shown when the link is gone.
    """
    workbench_id = wire.workbench(a__txt="old")
    theirs = wire.folder / f"theirs-{which}"
    theirs.mkdir()
    for name in ("a.txt", "mine.txt"):
        (theirs / name).write_text("mine")
    (theirs / "sub").mkdir()
    place = wire.published(workbench_id).parent / which
    moved = place.with_name("moved")
    # There is no draft/ before a draft is open.
    place.mkdir(exist_ok=True)
    place.rename(moved)
    place.symlink_to(theirs)
    try:
        _draft(wire, workbench_id, "a.txt", "new")
        _draft(wire, workbench_id, "sub/b.txt", "made")
        assert wire.ask("DraftPublish", workbench_id=workbench_id)["published"] == [
            "a.txt", "sub/b.txt",
        ]  # fmt: skip
        found = {path.name: path.read_text() for path in theirs.iterdir() if path.is_file()}
        assert found == {"a.txt": "mine", "mine.txt": "mine"}
        assert list((theirs / "sub").iterdir()) == []
        if which == "published":
            assert (moved / "a.txt").read_text() == "new"
        else:
            told = [
                line for line in wire.daemon.log.read_text().splitlines() if "not_shown" in line
            ]
            assert any(workbench_id in line for line in told)
    finally:
        place.unlink()
        moved.rename(place)
        for path in sorted(theirs.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        theirs.rmdir()


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "read-only", "special mode"])
def test_what_stands_in_the_way_of_a_publish_is_told(wire: Wired, kind: str) -> None:
    """A folder, a link or a pipe under the file's name is a conflict, and nothing is left staged.

    A file that nobody may write is replaced, and keeps its mode but for setuid (A40, A43).
    """
    workbench_id = wire.workbench(a__txt="old")
    wire.draft(workbench_id, a__txt="new")
    target = wire.published(workbench_id) / "a.txt"
    match kind:
        case "read-only":
            target.chmod(0o400)
        case "special mode":
            target.chmod(0o4755)
        case _:
            target.unlink()
            if kind == "folder":
                target.mkdir()
            elif kind == "link":
                target.symlink_to("/etc/passwd")
            else:
                os.mkfifo(target)
    if kind in ("read-only", "special mode"):
        wire.ask("DraftPublish", workbench_id=workbench_id)
        assert target.read_text() == "new"
        assert target.stat().st_mode & 0o7777 == (0o400 if kind == "read-only" else 0o755)
    else:
        refused = wire.refused("DraftPublish", workbench_id=workbench_id)
        assert refused.data["error_code"] == "CONFLICT_PUBLISHED_CHANGED"
    stage = target.parent.parent / "stage"
    assert list(stage.iterdir()) == []
