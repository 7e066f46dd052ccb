"""The daemon's own log: one line an entry, and no secret in it."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from kbd.core.runtime.diagnostics import (
    BURST_ENTRIES,
    ENTRIES_PER_S,
    TEXT_CHARACTERS,
    captured_output,
    configure,
)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Other tests find structlog as it was."""
    yield
    structlog.reset_defaults()


def logged(event: str, *, json: bool = True, **facts: Any) -> str:
    """Return what one entry looks like."""
    stream = io.StringIO()
    configure(stream, json=json, redact=lambda text: text.replace("sk-canary", "***"))
    structlog.get_logger("test").info(event, **facts)
    return stream.getvalue()


def test_an_entry_is_a_json_line() -> None:
    """With level and time in UTC."""
    entry = json.loads(logged("run.started", run="ab-1", files=3, parts=["x", {"y": None}]))

    assert entry.pop("ts").endswith("Z")
    assert entry == {
        "event": "run.started", "level": "info", "run": "ab-1", "files": 3,
        "parts": ["x", {"y": None}],
    }  # fmt: skip


@pytest.mark.parametrize("as_json", [True, False])
def test_an_entry_stays_one_line(*, as_json: bool) -> None:
    """Newlines, escape sequences and separators in a value or a name are escaped."""
    hostile = 'a\n{"level":"info"}\x1b[2J\r\u2028\u202eb\x9b'
    text = logged(hostile, json=as_json, **{"name\n2": hostile})

    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert not set("\x1b\r\u2028\u202e\x9b") & set(text)


@pytest.mark.parametrize("as_json", [True, False])
def test_no_secret_is_shown(*, as_json: bool) -> None:
    """Not in the event, a value, a nested one, an object's repr, or a traceback."""
    stream = io.StringIO()
    configure(stream, json=as_json, redact=lambda text: text.replace("sk-canary", "***"))
    key_in_a_frame = "sk-" + "canary"
    try:
        raise ValueError(key_in_a_frame)
    except ValueError as fault:
        structlog.get_logger("test").exception(
            "with sk-canary", a="sk-canary", b=[{"c": ("sk-canary",)}], d=fault
        )

    assert "canary" not in stream.getvalue().replace('"sk-" + "canary"', "").replace(
        r"\"sk-\" + \"canary\"", ""
    )
    assert "ValueError" in stream.getvalue()
    assert "key_in_a_frame =" not in stream.getvalue().replace('key_in_a_frame = "sk-"', "")


def test_a_long_value_is_cut() -> None:
    """A log is no place for a file's contents."""
    entry = json.loads(logged("read", text="x" * 100_000))

    assert len(entry["text"]) < TEXT_CHARACTERS + 100
    assert entry["text"].endswith("(100000 characters)")


def test_a_loop_of_values_ends() -> None:
    """Nesting is followed a few levels down."""
    value: list[Any] = []
    value.append(value)

    assert "..." in logged("odd", value=value)


@pytest.mark.parametrize(
    "order", ["kbd.core.runtime.diagnostics, rich.table", "rich, kbd.core.runtime.diagnostics"]
)
def test_rich_can_be_used_beside_it(order: str) -> None:
    """It is kept from structlog alone, and not taken from whoever has imported it."""
    code = (
        f"import sys, {order}, rich.traceback\n"
        "print(sys.modules['rich'] is rich, rich.traceback.Traceback.__name__)\n"
        "kbd.core.runtime.diagnostics.configure(sys.stdout, json=False)\n"
        "kbd.core.runtime.diagnostics.get_logger('test').info('heard')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.startswith("True Traceback\n")
    assert "heard" in done.stdout


class Shown:
    """The log while others print: its entries, with a clock that stands still."""

    def __init__(self, *, as_json: bool = True) -> None:
        self.stream, self.now_s = io.StringIO(), 0.0
        configure(
            self.stream,
            json=as_json,
            redact=lambda text: text.replace("sk-canary", "***"),
            clock=lambda: self.now_s,
        )

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Return what was logged."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


def test_what_others_print_and_log_holds_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """A plugin's print, a library's warning; afterwards the streams are what they were."""
    streams, shown = (sys.stdout, sys.stderr), Shown()
    with captured_output():
        print("said sk-canary")
        print("to stderr sk-canary", file=sys.stderr, flush=True)
        logging.getLogger("tests.plugin").warning("key %s", "sk-canary")
        print("half a line of sk-", end="")
        print("canary", end="")

    assert (sys.stdout, sys.stderr) == streams
    told = [(entry["stream"], entry["text"]) for entry in shown.entries]
    assert ("stdout", "said ***") in told
    assert ("stderr", "to stderr ***") in told
    assert ("stdout", "half a line of ***") in told
    assert "canary" not in shown.stream.getvalue()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("as_json", [True, False])
def test_a_printed_line_cannot_pass_for_an_entry(*, as_json: bool) -> None:
    """Whoever prints a file's name prints what is in it: each line is an entry that says so."""
    shown = Shown(as_json=as_json)
    forged = '{"event": "listening", "level": "info"}'
    with captured_output():
        print(f"a\n{forged}\x1b[2J\u2028\x00{forged}\r{forged}")

    lines = shown.stream.getvalue().splitlines()
    assert len(lines) == 2
    assert not set("\x1b\r\u2028\x00") & set(shown.stream.getvalue())
    assert not any(line.startswith("{") for line in lines) or as_json
    assert not as_json or [entry["event"] for entry in shown.entries] == ["printed"] * 2


@pytest.mark.full
def test_a_flood_of_entries_is_limited_and_counted() -> None:
    """A million at once: as many as may come at once are there, and the next tells of the rest."""
    shown = Shown()
    log = structlog.get_logger("test")
    for number in range(200_000):
        log.info("flood", number=number)
    assert len(shown.entries) == BURST_ENTRIES
    assert shown.entries[-1]["number"] == BURST_ENTRIES - 1
    log.critical("the end")
    assert shown.entries[-1] | {"dropped": 200_000 - BURST_ENTRIES} == shown.entries[-1]

    # As time passes there is room again; with none, one that says why the daemon ends is told.
    shown.now_s += 2
    for _ in range(200_000):
        log.info("flood")
    assert len(shown.entries) == BURST_ENTRIES + 1 + 2 * ENTRIES_PER_S
    with captured_output():
        print("x\n" * 1000)
    assert len(shown.entries) == BURST_ENTRIES + 1 + 2 * ENTRIES_PER_S


def test_a_line_that_never_ends_is_not_kept() -> None:
    """It is logged, and cut, when it is long enough."""
    shown = Shown()
    with captured_output():
        for _ in range(100):
            print("x" * 10_000, end="")
        assert len(shown.entries) > 10
    assert all(len(entry["text"]) < TEXT_CHARACTERS + 100 for entry in shown.entries)
