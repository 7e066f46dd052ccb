"""`kbd replay RUN --verify` says in short what came of a proof, and where a run diverged."""

import json
from typing import Any

import msgspec
import pytest

from kbd.cli.exits import RequestRefused
from kbd.cli.replay import prove
from kbd.client.blocking import Client
from kbd.requests.replays import (
    Divergence,
    FieldDiff,
    FileDiff,
    PartDiff,
    PluginCompared,
    ReadingDiff,
    RunReplayed,
    SkippedCall,
)
from kbd.types import CallId, FileName, Phase, RunId, Seq
from scripted_daemon import AnswerError, Notify, ScriptedDaemon
from scripted_job import WORKBENCH

Captured = pytest.CaptureFixture[str]

RUN = RunId(f"{WORKBENCH}-1")
THEN, NOW = "a" * 64, "b" * 64

FIRST = Divergence(
    seq=Seq(57), call_id=CallId("c1"), entry_id=9, tool="edit", phase=Phase.IMPLEMENT, item=2,
    what=("result", "files"),
    fields=(FieldDiff(path="rows[3][1]", recorded="12.5", replayed=""),),
    files=(
        FileDiff(path="a.bin", recorded=THEN, replayed=NOW, offset=1234,
                 parts=(PartDiff(part="inner/one.xml", recorded=THEN, replayed=""),)),
        FileDiff(path="b.txt", recorded="", replayed=NOW),
        FileDiff(path="c.txt", recorded=THEN, replayed=""),
    ),
    plugins=("kbd_one",),
)  # fmt: skip
REFUSED = Divergence(
    seq=Seq(60), call_id=CallId("c2"), entry_id=0, tool="\x1b[31mred", phase=Phase.RESEARCH, item=0,
    what=("refusal",),
)  # fmt: skip
SKIPPED = SkippedCall(seq=Seq(70), call_id=CallId("c3"), tool="slow", reason="a limit ended it")
PLUGIN = PluginCompared(
    package="kbd_one", recorded_version="1.0", recorded_sha256=THEN, version="1.1", sha256=NOW
)


IN_SHORT = (
    "4 calls done again, 2 came out as recorded, 2 did not (1 file version, 0 refusals, 1 skipped)"
)
OTHER = (
    "  kbd_one is not the one that was recorded: 1.0 (aaaaaaaaaaaa) then, 1.1 (bbbbbbbbbbbb) now"
)


def found(**more: Any) -> RunReplayed:
    """What a proof found; two calls that came out as recorded unless said otherwise."""
    plain = RunReplayed(
        run_id=RUN, calls=2, equal=2, files=1, refusals=0, divergences=(), skipped=(), plugins=(),
        duration_ms=5,
    )  # fmt: skip
    return msgspec.structs.replace(plain, **more)


def shown(daemon: ScriptedDaemon, answer: RunReplayed, *, as_json: bool = False) -> int:
    """Have it shown; return the exit code."""
    daemon.answers["ReplayRun"] = msgspec.to_builtins(answer)
    with Client(str(daemon.path)) as client:
        return prove(client, RUN, None, as_json)


def test_equal_is_one_line(daemon: ScriptedDaemon, capsys: Captured) -> None:
    """Everything came out as recorded: how much that was, and an end with 0."""
    assert shown(daemon, found()) == 0
    assert capsys.readouterr().out == (
        "2 calls done again, all came out as recorded (1 file version, 0 refusals, 0 skipped)\n"
    )


def test_nothing_to_do_is_said(daemon: ScriptedDaemon, capsys: Captured) -> None:
    """A run without calls proves nothing, and is told so."""
    assert shown(daemon, found(calls=0, equal=0, files=0)) == 0
    assert "no call to do again" in capsys.readouterr().out


def test_the_first_divergence_is_told_in_full(daemon: ScriptedDaemon, capsys: Captured) -> None:
    """With its diff, then the others in a table, then where to look; and an end with 1."""
    answer = found(
        calls=4, equal=2, divergences=(FIRST, REFUSED), skipped=(SKIPPED,), plugins=(PLUGIN,)
    )

    assert shown(daemon, answer) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        IN_SHORT,
        "  skipped: slow (event 70): a limit ended it",
        OTHER,
        "",
        "The first: call 9, edit (event 57, item 2) differs in result, files",
        "  rows[3][1]",
        "    recorded  12.5",
        "    now       (nothing)",
        "  a.bin: recorded aaaaaaaaaaaa, now bbbbbbbbbbbb; first at byte 1,234",
        "    Part           Recorded      Now",
        "    inner/one.xml  aaaaaaaaaaaa  (none)",
        "  b.txt: was not written then, is now",
        "  c.txt: was written then, is not now",
        "  done by what is not the recorded version: kbd_one",
        "",
        "And 1 more call:",
        "Event  Tool  Where     Differs in  First of it",
        "60     red   research  refusal",
    ]
    assert printed.err.startswith(f"`kbd show {WORKBENCH} 57` shows what was recorded")


def reading(name: str, *fields: FieldDiff, is_recorded: bool = True) -> ReadingDiff:
    """A table that is read with a comma now."""
    return ReadingDiff(
        path=FileName(name), sheet="", is_recorded=is_recorded, fields=fields,
        settings={"decimal": ",", "delimiter": ";"},
    )  # fmt: skip


DECIMAL = FieldDiff(path="decimal", recorded="", replayed='","')


def test_tables_that_are_read_otherwise_come_first(
    daemon: ScriptedDaemon, capsys: Captured
) -> None:
    """What differs of each; where the log has no reading, that is said, and the one of today."""
    first = msgspec.structs.replace(
        FIRST, what=("reading", "result"), fields=(), files=(), plugins=(),
        readings=(
            reading("a.csv", DECIMAL),
            reading("b.csv", DECIMAL, is_recorded=False),
            reading("\x1b[31mc.csv", is_recorded=False),
        ),
    )  # fmt: skip
    other = msgspec.structs.replace(
        REFUSED, tool="table_stats", what=("reading",), readings=(reading("a.csv", DECIMAL),)
    )

    assert shown(daemon, found(calls=4, equal=2, divergences=(first, other))) == 1
    now = '    it is read now with decimal ","; delimiter ";"'
    assert capsys.readouterr().out.splitlines()[2:] == [
        "The first: call 9, edit (event 57, item 2) differs in reading, result",
        "  a.csv was read differently:",
        '    decimal: (nothing) then, "," now',
        "  b.csv was read differently, as the results of the run show:",
        '    decimal: (nothing) then, "," now',
        now,
        "  c.csv: the log does not have how it was read, and no result shows a difference",
        now,
        "",
        "And 1 more call:",
        "Event  Tool         Where     Differs in  First of it",
        "60     table_stats  research  reading     a.csv: decimal",
    ]


def test_json_is_the_answer_itself(daemon: ScriptedDaemon, capsys: Captured) -> None:
    """One object, with the same exit code."""
    answer = found(calls=3, divergences=(FIRST,))

    assert shown(daemon, answer, as_json=True) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads(msgspec.json.encode(answer))
    assert printed.err == ""


def test_the_path_of_a_plugin_is_made_whole(
    daemon: ScriptedDaemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The daemon has another current folder than the person."""
    monkeypatch.chdir(tmp_path)
    daemon.answers["ReplayRun"] = msgspec.to_builtins(found())
    with Client(str(daemon.path)) as client:
        assert prove(client, RUN, "new/kbd_one", as_json=False) == 0

    _, params = daemon.asked[-1]
    assert params == {"run_id": RUN, "with_plugin": str(tmp_path / "new" / "kbd_one")}


def test_a_refusal_ends_the_command(daemon: ScriptedDaemon) -> None:
    """With the daemon's words."""

    def refuse(_params: dict[str, Any], _notify: Notify) -> None:
        raise AnswerError("LOG_CORRUPT", "the log is damaged")

    daemon.answers["ReplayRun"] = refuse
    with (
        Client(str(daemon.path)) as client,
        pytest.raises(RequestRefused, match="the log is damaged"),
    ):
        prove(client, RUN, None, as_json=False)
