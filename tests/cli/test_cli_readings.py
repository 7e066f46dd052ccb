"""How tables are to be read: said by arguments, asked on a terminal, refused where nobody is."""

from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli import readings
from kbd.cli.exits import CONFIRMATION_NEEDED
from scripted_daemon import ScriptedDaemon
from scripted_job import ADDED, WORKBENCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

TABLE = {"path": "de.csv", "file_kind": "table", "size_bytes": 20, "is_text": True}
BOOK = {"path": "b.xlsx", "file_kind": "workbook", "size_bytes": 20, "is_text": False}
DECIMAL = {
    "path": "de.csv",
    "about": "decimal",
    "columns": ["Umsatz"],
    "text": "Umsatz: 1.234 can be 1234 or 1.234",
    "options": [
        {"value": ".", "meaning": "the sum is 3.734"},
        {"value": ",", "meaning": "the sum is 3,734"},
    ],
}
HEADER = {
    "path": "de.csv",
    "about": "header_row",
    "columns": [],
    "text": "row 1 or row 2 has the names",
    "options": [{"value": "2", "meaning": "3 rows"}, {"value": "1", "meaning": "4 rows"}],
}


def _asking(daemon: ScriptedDaemon, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    """Have a daemon ask questions until each is answered; return what is said of files."""
    said: list[dict[str, Any]] = []

    def take(params: dict[str, Any], *_: object) -> dict[str, Any]:
        said.append(params)
        return {"path": params["path"], "read_as": params["read_as"]}

    def ask(*_: object) -> dict[str, Any]:
        known = {field for params in said for field in params["read_as"]}
        return {"questions": [each for each in questions if each["about"] not in known]}

    daemon.answers["WorkbenchFilesList"] = {"files": [TABLE, BOOK]}
    daemon.answers["WorkbenchFilesSetReading"] = take
    daemon.answers["WorkbenchGetQuestions"] = ask
    return said


def test_the_daemon_is_told_what_is_to_be_done(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """It asks about what the job reads alone; going on with a run says no job."""
    _asking(daemon)
    assert kbd("run", "sum Umsatz", "de.csv", "--publish") == 0
    assert kbd("send", WORKBENCH, "--resume") == 0
    asked = [params for method, params in daemon.asked if method == "WorkbenchGetQuestions"]
    assert [params.get("job", "") for params in asked] == ["sum Umsatz", ""]


@pytest.mark.parametrize(
    ("flags", "read_as"),
    [
        (["--decimal", ","], {"decimal": ","}),
        (["--encoding", "cp1252", "--delimiter", ";"], {"encoding": "cp1252", "delimiter": ";"}),
        (["--header-row", "0"], {"header_row": 0}),
        (["--date-order", "mdy", "--totals", "keep"], {"date_order": "mdy", "totals": "keep"}),
    ],
)
def test_what_is_said_beforehand_is_said_of_each_table(
    daemon: ScriptedDaemon, kbd: Kbd, flags: list[str], read_as: dict[str, Any]
) -> None:
    """The arguments of `run` reach the text tables, and no workbook, before the run begins."""
    said = _asking(daemon)
    assert kbd("run", "sum Umsatz", "de.csv", "--publish", *flags) == 0
    assert said == [{"workbench_id": WORKBENCH, "path": "de.csv", "read_as": read_as}]
    methods = daemon.methods()
    assert methods.index("WorkbenchFilesSetReading") < methods.index("WorkshopSendUserMessage")


def test_where_nobody_can_be_asked_nothing_is_done(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A script is told the question, what each answer means, and the arguments that answer it."""
    said = _asking(daemon, DECIMAL)
    assert kbd("run", "sum Umsatz", "de.csv") == CONFIRMATION_NEEDED
    told = capsys.readouterr().err
    assert "de.csv: Umsatz: 1.234 can be 1234 or 1.234" in told
    assert "the sum is 3,734" in told
    assert "say --decimal . or --decimal ," in told
    assert said == []
    assert "WorkshopRunAgent" not in daemon.methods()


@pytest.mark.parametrize("answer", ["2", ","])
def test_a_person_is_asked_and_the_run_goes_on(
    daemon: ScriptedDaemon, kbd: Kbd, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """By its number or its value; a second question is asked after it, beside what was said."""
    said = _asking(daemon, DECIMAL, HEADER)
    answers = iter([answer, "1"])
    monkeypatch.setattr(readings, "is_interactive", lambda: True)
    monkeypatch.setattr(readings, "ask_text", lambda _: next(answers))
    # The first of the options is meant, not the row of that number.
    assert kbd("run", "sum Umsatz", "de.csv", "--publish") == 0
    assert [params["read_as"] for params in said] == [
        {"decimal": ","},
        {"decimal": ",", "header_row": 2},
    ]


def test_what_is_no_answer_ends_it(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is guessed from it."""
    said = _asking(daemon, DECIMAL)
    monkeypatch.setattr(readings, "is_interactive", lambda: True)
    monkeypatch.setattr(readings, "ask_text", lambda _: "yes")
    assert kbd("run", "sum Umsatz", "de.csv") == CONFIRMATION_NEEDED
    assert "that is no answer" in capsys.readouterr().err
    assert said == []


def test_a_question_that_stays_is_an_error(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked again after its answer is not asked for ever."""
    _asking(daemon)
    daemon.answers["WorkbenchGetQuestions"] = {"questions": [DECIMAL]}
    monkeypatch.setattr(readings, "is_interactive", lambda: True)
    monkeypatch.setattr(readings, "ask_text", lambda _: "1")
    assert kbd("run", "sum Umsatz", "de.csv") == 1
    assert "still asks after the answer" in capsys.readouterr().err


def test_what_the_answer_tells_is_told_once(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A warning of a file that stands in the answer is not printed below it again."""
    told, other = "t.csv: 1 row left out (row 4: Total | 3)", "the sheet is new"
    answer = f"Total 3\n\nHow the tables were read:\n- {told}"
    daemon.answers["WorkshopGetConversation"] = {
        "messages": [{"type": "assistant_message", "text": answer}]
    }
    change = {**ADDED, "warnings": [told, other]}
    daemon.answers["ReviewGetChangeSet"] = {"draft_id": "d1", "changes": [change]}
    for command in (("run", "sum Umsatz", "de.csv", "--keep"), ("send", WORKBENCH, "sum Umsatz")):
        _asking(daemon)
        assert kbd(*command) == 0
        printed = capsys.readouterr().out
        assert printed.count(told) == 1
        assert f"! {ADDED['path']}: {other}" in printed
