"""`kbd approve`: what waits is shown in kbd's words, and decided by whom it asks."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli import approve
from kbd.cli.exits import CONFIRMATION_NEEDED, USAGE
from scripted_daemon import AnswerError, ScriptedDaemon

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

BENCH = "0123456789abcdef"
DELETION: dict[str, Any] = {
    "approval_id": f"{BENCH}-a1f2-0", "workbench_id": BENCH, "workbench_name": "taxes",
    "kind": "deletion", "title": "delete old\x1b[31m.csv", "asked_at": "2026-11-24T04:15:00Z",
    "files": [{"path": "old.csv", "change_type": "deleted"}],
    "asked_by": {"client": "kbd publish", "connection": 3},
}  # fmt: skip
PUBLISH = {
    **DELETION, "approval_id": f"{BENCH}-a1f2-1", "kind": "publish", "run_id": f"{BENCH}-4",
    "title": "publish 1 file: a.csv (modified)",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _waiting(daemon: ScriptedDaemon) -> None:
    daemon.answers["ApprovalList"] = {"approvals": [DELETION, PUBLISH]}
    daemon.answers["ApprovalDecide"] = _decided


def _decided(params: dict[str, Any], _: object) -> dict[str, Any]:
    if params["decision"] == "decline":
        return params
    return {**params, "published": {"published": ["a.csv"]}}


def test_what_waits_is_listed(kbd: Kbd, capsys: Captured) -> None:
    """What, where, since when, for whom, and how it is decided; nothing is decided by it."""
    assert kbd("approve") == 0
    assert capsys.readouterr().out.splitlines() == [
        "delete old.csv",
        "  in workbench taxes, asked by kbd publish, 2026-11-24 04:15",
        f"  kbd approve {BENCH}-a1f2-0",
        "publish 1 file: a.csv (modified)",
        "  in workbench taxes, for run 4, asked by kbd publish, 2026-11-24 04:15",
        f"  kbd approve {BENCH}-a1f2-1",
    ]
    assert kbd("approve", "--json", "taxes") == 0
    assert json.loads(capsys.readouterr().out) == [DELETION, PUBLISH]


def test_what_is_named_is_decided(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """By id, its beginning, or the workbench; never all of it for want of a name."""
    assert kbd("approve", f"{BENCH}-a1f2-1", "--accept") == 0
    assert daemon.params_of("ApprovalDecide") == {
        "approval_id": f"{BENCH}-a1f2-1", "decision": "accept",
    }  # fmt: skip
    assert capsys.readouterr().out.splitlines() == [
        "accepted: publish 1 file: a.csv (modified)", "published a.csv",
    ]  # fmt: skip
    assert kbd("approve", "taxes", "--decline") == 0
    assert daemon.methods().count("ApprovalDecide") == 3
    assert kbd("approve", "--accept") == CONFIRMATION_NEEDED
    assert kbd("approve", "nothing", "--accept") == 1
    assert "nothing waits under nothing" in capsys.readouterr().err
    assert daemon.methods().count("ApprovalDecide") == 3


def test_what_a_line_has_no_room_for_stands_below_it(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Every file and every reference is shown before a person agrees to it."""
    names = [f"{'n' * 40}{number}.csv" for number in range(30)]
    references = ["https://ai.example/\u202egpj", "http://b.example/" + "x" * 300]
    files = [
        *({"path": name, "change_type": "modified"} for name in names),
        {"path": "z\u00a0.csv", "change_type": "added", "references": references},
    ]
    title = "publish 31 files: " + ", ".join(f"{name} (modified)" for name in names)
    daemon.answers["ApprovalList"] = {"approvals": [{**PUBLISH, "title": title, "files": files}]}
    assert kbd("approve", "--list") == 0
    first, *listed, _, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("publish 31 files: nnn")
    assert first.endswith("…")
    assert listed == [
        *(f"    {name} (modified)" for name in names),
        "    z⟨U+00A0⟩.csv (added)",
        "      reaches out to https://ai.example/⟨U+202E⟩gpj",
        f"      reaches out to http://b.example/{'x' * 300}",
    ]


@pytest.mark.parametrize(
    ("named", "decided"),
    [
        # A whole id, a workbench's id or name, a beginning that fits what was asked together.
        (f"{BENCH}-a1f2-1", 1), (BENCH, 3), ("taxes", 3), (f"{BENCH}-a1f2", 2), (BENCH[:4], 0),
        # Two askings of one workbench, two workbenches, two of one name.
        (f"{BENCH}-a1", 0), ("0", 0), ("twins", 0), ("", 0),
    ],
)  # fmt: skip
def test_what_is_decided_is_named_without_doubt(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, named: str, decided: int
) -> None:
    """What several things begin with decides none of them; all that are meant are told."""
    other, third = "0123fedcba987654", "4" * 16
    daemon.answers["ApprovalList"] = {
        "approvals": [
            DELETION, PUBLISH,
            {**PUBLISH, "approval_id": f"{BENCH}-a1ff-0"},
            *(
                {
                    **PUBLISH, "approval_id": f"{each}-a1f2-0", "workbench_id": each,
                    "workbench_name": "twins",
                }
                for each in (other, third)
            ),
        ]
    }  # fmt: skip
    code = kbd("approve", named, "--accept")
    assert daemon.methods().count("ApprovalDecide") == decided
    assert code == (0 if decided else 1)
    if named and not decided:
        told = capsys.readouterr().err
        assert f"several are meant by {named}; name one by its id: " in told
        assert f"{BENCH}-a1f2" in told or f"{other}-a1f2" in told
    # To be asked about each there is no doubt.
    assert kbd("approve", named or "taxes") == 0


@pytest.mark.parametrize("decision", ["--accept", "--decline"])
def test_a_decision_is_not_taken_for_a_list(
    daemon: ScriptedDaemon, kbd: Kbd, decision: str
) -> None:
    """A program that wants JSON is not told of success where nothing was decided."""
    with pytest.raises(SystemExit) as ended:
        kbd("approve", "taxes", decision, "--json")
    assert ended.value.code == USAGE
    assert daemon.methods() == []


def test_a_person_is_asked_about_each(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accepted, declined, or left for later; what is no answer is asked again."""
    replies = iter(["what", "d", ""])
    monkeypatch.setattr(approve, "is_interactive", lambda: True)
    monkeypatch.setattr(approve, "ask_text", lambda question: next(replies))
    assert kbd("approve") == 0
    assert daemon.params_of("ApprovalDecide")["decision"] == "decline"
    assert daemon.methods().count("ApprovalDecide") == 1
    assert "y: accept" in capsys.readouterr().err


PART = {**PUBLISH, "approval_id": f"{BENCH}-a2-0", "title": "publish 1 file: part.csv (added)"}


def test_what_a_decision_settles_is_not_asked_any_more(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publish of all accepts that of a part, too: that is told, and nobody is asked about it."""
    waiting = [PUBLISH, PART]

    def decide(params: dict[str, Any], notify: object) -> dict[str, Any]:
        waiting.clear()
        return _decided(params, notify)

    daemon.answers["ApprovalDecide"] = decide
    daemon.answers["ApprovalList"] = lambda params, notify: {"approvals": list(waiting)}
    monkeypatch.setattr(approve, "is_interactive", lambda: True)
    monkeypatch.setattr(approve, "ask_text", lambda question: "y")
    assert kbd("approve") == 0
    assert daemon.methods().count("ApprovalDecide") == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "accepted: publish 1 file: a.csv (modified)", "published a.csv",
        "waits no more: publish 1 file: part.csv (added)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("detail", "code", "told"),
    [
        ({"decision": "accept"}, 0, "accepted already: publish 1 file: part.csv (added)"),
        ({"decision": "decline"}, 1, "publish 1 file: part.csv (added): VALIDATION_FAILED: late"),
        ({}, 1, "publish 1 file: part.csv (added): VALIDATION_FAILED: late"),
    ],
)
def test_what_was_to_be_accepted_and_was_not_is_a_failure(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, detail: dict[str, str], code: int, told: str
) -> None:
    """Decided alike meanwhile it is as wanted; declined by somebody, or gone undone, it is not."""

    def decide(params: dict[str, Any], notify: object) -> dict[str, Any]:
        if params["approval_id"] == PART["approval_id"]:
            raise AnswerError("VALIDATION_FAILED", "late", detail=detail)
        return _decided(params, notify)

    daemon.answers["ApprovalDecide"] = decide
    daemon.answers["ApprovalList"] = {"approvals": [PUBLISH, PART]}
    assert kbd("approve", "taxes", "--accept") == code
    said = capsys.readouterr()
    assert told in (said.err if code else said.out)
    assert "published a.csv" in said.out


def test_a_workbench_whose_name_has_a_hyphen_is_decided(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """It stands for all that waits in it, as any other."""
    rows = [{**row, "workbench_name": "tax-2025"} for row in (PUBLISH, PART)]
    daemon.answers["ApprovalList"] = {"approvals": rows}
    assert kbd("approve", "tax-2025", "--accept") == 0
    assert daemon.methods().count("ApprovalDecide") == 2


@pytest.mark.parametrize(("count", "which"), [(1, "1 workbench"), (7, "7 workbenches")])
def test_workbenches_that_cannot_be_read_are_told(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured, count: int, which: str
) -> None:
    """Something may wait in them; the list on stdout is as ever."""
    unread = [f"{number:016x}" for number in range(count)]
    daemon.answers["ApprovalList"] = {"approvals": [], "unread": unread}
    assert kbd("approve", "--json") == 0
    said = capsys.readouterr()
    assert (json.loads(said.out), said.err.startswith(f"{which} cannot be read to the end")) == (
        [], True,
    )  # fmt: skip
    assert [each for each in unread if each in said.err] == unread[: approve.MAX_NAMED]


def test_a_publish_is_asked_for(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """With --ask nothing is published; what waits then is shown."""
    daemon.answers["ApprovalRequest"] = {"approvals": [PUBLISH]}
    assert kbd("publish", "taxes", "a.csv", "--ask") == 0
    assert daemon.params_of("ApprovalRequest") == {"workbench_id": BENCH, "paths": ["a.csv"]}
    assert "DraftPublish" not in daemon.methods()
    assert f"kbd approve {BENCH}-a1f2-1" in capsys.readouterr().out


def test_nothing_waits(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """It says so."""
    daemon.answers["ApprovalList"] = {"approvals": []}
    assert kbd("approve") == 0
    assert capsys.readouterr().out == "Nothing waits for a person.\n"
