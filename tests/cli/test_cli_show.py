"""`kbd show`: one event in full, readable, with what it answers and the bytes that it names."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kbd.cli.show import referenced_blobs
from kbd.cli.step_text import render_value, truncate_lines
from kbd.events import VERSIONS
from kbd.events.vocabulary import named_blobs
from logs.make_golden import ADDED, EVENTS
from scripted_daemon import AnswerError, Notify, ScriptedDaemon
from scripted_job import RUN, WORKBENCH, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

TEXT = "first\nsecond \u00fc\n"
BYTES = b"PK\x03\x04" * 400_000
OPENING = json.dumps([{"role": "system", "text": "Be exact.\nAnd brief."}])
EXAMPLES = (*EVENTS, *(event for commit in ADDED for event in commit))


def hashed(content: str | bytes) -> str:
    """The hash of some bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


KEPT = {hashed(each): each for each in (TEXT, BYTES, OPENING)}
GONE = "f" * 64


def events() -> list[dict[str, Any]]:
    """A run: a turn that asks for a call which writes, and another turn."""
    arguments = {"path": "a.txt", "content": TEXT}
    call = {"id": "c", "name": "write_text_file", "arguments": json.dumps(arguments)}
    told: list[tuple[str, dict[str, Any]]] = [
        ("RunStarted", {"model_id": "x:y"}),
        ("PhaseStarted", {"phase": "implement"}),
        ("PlanWritten", {"items": ["Write it"]}),
        ("ItemStarted", {"item": 1}),
        ("ModelRequested", {"model_id": "x:y", "turn": 1, "opening": hashed(OPENING)}),
        ("ModelReplied", {"text": "I write.", "calls": [call]}),
        ("ToolCalled", {"call_id": "c", "tool": "write_text_file", "entry_id": 1}),
        ("FileChanged", {"name": "a.txt", "before": hashed(BYTES), "after": hashed(TEXT),
                         "size_bytes": 16, "call_id": "c"}),
        ("ToolReturned", {"call_id": "c", "ok": True, "shown": '{"written": {"bytes": 15}}',
                          "blob": GONE}),
        ("ModelRequested", {"model_id": "x:y", "turn": 2, "opening": hashed(OPENING)}),
    ]  # fmt: skip
    return [
        {
            "seq": seq, "id": f"{WORKBENCH}:{seq}", "type": kind, "version": 1,
            "ts": "2026-01-02T03:04:05.000006Z", "data": data, "run_id": RUN,
            "title": f"{kind} told",
            "place": {"text": "phase implement, item 1 of 1", "label": "Write it"},
        }
        for seq, (kind, data) in enumerate(told, 1)
    ]  # fmt: skip


def _blob(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
    if params["hash"] not in KEPT:
        raise AnswerError("NOT_FOUND", "there is no such blob")
    kept = KEPT[params["hash"]]
    content = kept.encode() if isinstance(kept, str) else kept
    part = content[params["offset"] :][: params["limit"]]
    return {
        "base64": base64.b64encode(part).decode(), "size_bytes": len(content),
        "has_more": params["offset"] + len(part) < len(content),
    }  # fmt: skip


@pytest.fixture
def ran(daemon: ScriptedDaemon) -> ScriptedDaemon:
    """A daemon with that run and the bytes that it names, but one."""
    daemon.answers["EventsRead"] = lambda params, _: {
        "events": events()[params.get("after", 0) :][: params["limit"]],
        "last_seq": 10,
    }
    daemon.answers["BlobRead"] = _blob
    return daemon


@pytest.fixture
def shown(ran: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> Callable[..., str]:
    """What `kbd show taxes SEQ` prints."""
    del ran

    def show(seq: int, *options: str) -> str:
        assert kbd("show", "taxes", str(seq), *options) == 0
        return capsys.readouterr().out

    return show


def test_a_result_comes_with_its_call_and_the_reply(shown: Callable[..., str]) -> None:
    """Where it belongs, its fields, the arguments as texts, who asked; what is gone is told."""
    told = shown(9)

    for part in (
        f"event 9 of taxes ({WORKBENCH}): ToolReturned\nToolReturned told\n",
        "time   2026-01-02 03:04:05.000006 UTC\n",
        f"run    {RUN}\nplace  phase implement, item 1 of 1\nitem   Write it\n",
        'shown    {"written": {"bytes": 15}}\n',
        "the call, event 7:\n  tool       write_text_file\n  arguments\n    path     a.txt\n",
        "    content\n      first\n      second \u00fc\n",
        'asked for by the model, event 6:\n  text   I write.\n  calls  ["write_text_file"]\n',
        f"blob           not kept  {GONE[:16]}\n",
        f"kbd show {WORKBENCH} 9 --blob HASH --out FILE\n",
    ):
        assert part in told


def test_a_request_comes_with_what_the_model_saw(shown: Callable[..., str]) -> None:
    """The opening messages as texts, and the replies and results since."""
    told = shown(10)

    assert "- role  system\n    text\n      Be exact.\n      And brief.\n" in told
    assert "event 6, model  write_text_file I write.\n" in told
    assert 'event 9, tool   {"written": {"bytes": 15}}\n' in told
    assert "after the opening" not in shown(5)


def test_a_changed_file_comes_with_its_versions(shown: Callable[..., str]) -> None:
    """Both with size and hash; the text is shown, and bytes that are none are not."""
    told = shown(8)

    assert f"before   a.txt  1.5 MiB   {hashed(BYTES)[:16]}\n" in told
    assert f"after    a.txt  16 bytes  {hashed(TEXT)[:16]}\n" in told
    assert f"after a.txt, {hashed(TEXT)[:16]}:\n  first\n  second \u00fc\n" in told
    assert "PK" not in told
    assert "the call, event 7:\n  tool  write_text_file\n" in told
    assert "content" not in told


def test_a_version_can_be_had(shown: Callable[..., str], tmp_path: Path) -> None:
    """By the beginning of its hash, to the byte, to a new file; a text on stdout as well."""
    target = tmp_path / "before"

    assert shown(8, "--blob", hashed(BYTES)[:6], "--out", str(target)) == ""
    assert target.read_bytes() == BYTES
    assert shown(8, "--blob", hashed(TEXT)) == f"{TEXT}\n"


@pytest.mark.usefixtures("ran")
@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        ("11", 1, "there is no event 11 in taxes: there are 1 to 10; the log is damaged: x"),
        ("0", 1, "there is no event 0 in taxes"),
        (f"8 --blob {hashed(BYTES)}", 1, "is no text; say --out FILE"),
        (f"9 --blob {GONE}", 1, "is not kept"),
        (f"9 --blob {GONE} --out new", 1, "NOT_FOUND: there is no such blob"),
        (f"8 --blob {hashed(TEXT)} --out taken", 1, "taken cannot be written: File exists"),
        ("8 --blob 0000", 1, "the event names no file version 0000"),
        ("8 --out x", 2, "--out needs --blob"),
    ],
)
def test_what_cannot_be_shown_is_said(
    ran: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, asked: str, code: int, told: str,
) -> None:  # fmt: skip
    """No such event, with the damage if there is some; no such version; nothing is overwritten."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine")
    ran.answers["WorkbenchList"] = {"workbenches": [workbench(reason="the log is damaged: x")]}

    assert kbd("show", "taxes", *asked.split()) == code
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (tmp_path / "taken").read_text() == "mine"


def _refuse(_params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
    raise AnswerError("FILE_READ_FAILED", "the stored bytes are not those of their hash")


@pytest.mark.parametrize("found_by", ["daemon", "client"])
def test_bytes_that_are_not_those_of_the_hash_are_not_kept(
    ran: ScriptedDaemon, kbd: Kbd, capsys: Captured, tmp_path: Path, found_by: str
) -> None:
    """A damaged version is told instead of shown or written; the event is shown all the same."""
    wrong = base64.b64encode(b"other").decode()
    ran.answers["BlobRead"] = {"base64": wrong, "size_bytes": 5, "has_more": False}
    if found_by == "daemon":
        ran.answers["BlobRead"] = _refuse

    assert kbd("show", "taxes", "8", "--blob", hashed(TEXT), "--out", f"{tmp_path}/x") == 1
    assert "are not those of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert kbd("show", "taxes", "8", "--blob", hashed(TEXT)) == 1
    assert "is damaged" in capsys.readouterr().err
    assert kbd("show", "taxes", "8") == 0
    told = capsys.readouterr().out
    assert f"after    a.txt  damaged  {hashed(TEXT)[:16]}\n" in told
    assert "other" not in told


def test_long_fields_are_cut_unless_all_is_asked_for(
    ran: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """And how much is left is said."""
    long = {**events()[0], "type": "ResearchWritten", "data": {"text": "x" * 7000}}
    ran.answers["EventsRead"] = {"events": [long], "last_seq": 1}

    assert kbd("show", "taxes", "1") == 0
    assert "… 1,006 characters more" in capsys.readouterr().out
    assert kbd("show", "taxes", "1", "--full") == 0
    assert "x" * 7000 in capsys.readouterr().out


def test_machines_get_the_event(shown: Callable[..., str]) -> None:
    """As `kbd log --json` has it."""
    assert json.loads(shown(9, "--json")) == events()[8]


def test_an_event_of_the_daemon_names_no_versions(ran: ScriptedDaemon, kbd: Kbd) -> None:
    """Its log has no workbench to read them from."""
    stopped = {**events()[0], "type": "DaemonStopped", "data": {"reason": "x"}}
    del stopped["run_id"]
    ran.answers["EventsRead"] = {"events": [stopped], "last_seq": 1}

    assert kbd("show", "daemon", "1") == 0
    assert set(ran.methods()) == {"EventsRead"}


def test_a_run_is_read_back_to_its_beginning(
    ran: ScriptedDaemon, shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many pages that takes; no further."""
    monkeypatch.setattr("kbd.cli.show.MAX_HISTORY_EVENTS", 3)

    assert "after the opening messages it saw" in shown(10)
    assert [ran.params_of("EventsRead")[name] for name in ("after", "limit")] == [0, 1]


@pytest.mark.parametrize("kind", sorted(VERSIONS, key=str), ids=lambda kind: kind.__name__)
def test_bytes_are_looked_for_where_events_name_them(kind: type) -> None:
    """Of an event of every type the command finds the hashes that the log keeps bytes for."""
    examples = [event for event in EXAMPLES if type(event) is kind]

    assert examples
    for event in examples:
        found = sorted(
            blob.hash for blob in referenced_blobs(msgspec.json.decode(msgspec.json.encode(event)))
        )
        assert found == sorted(named_blobs(event))


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": 1}, ['{"a": 1}']),
        ({"a": "x\ny", "long": None}, ["a", "  x", "  y", "long  null"]),
        ({"json": '{"deep": "x\\n\\ny"}'}, ["json", "  deep", "    x", "", "    y"]),
        ([["a\nb"], [], {}], ["- - a", "    b", "- []", "- {}"]),
        (["x" * 80, 1.5, True], [f"- {'x' * 80}", "- 1.5", "- true"]),
        ("[no json]", ["[no json]"]),
        ("", ['""']),
        ("[" * 100_000 + "]", ["[" * 100_000 + "]"]),
    ],
)
def test_records_are_unfolded(value: object, lines: list[str]) -> None:
    """Texts by their lines, JSON in texts as what it says, what is short on one line."""
    assert render_value(value) == lines


def test_a_cut_says_how_much_is_left() -> None:
    """All lines up to the limit, and a count of the characters after it."""
    assert truncate_lines(["ab", "cd"], 5) == ["ab", "cd"]
    assert truncate_lines(["ab", "cd", "e"], 3) == ["ab", "… 4 characters more"]
    assert truncate_lines(["ab", "cd"], 4) == ["ab", "c", "… 1 characters more"]
