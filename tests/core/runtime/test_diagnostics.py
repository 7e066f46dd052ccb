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

from kbd.core.runtime.diagnostics import TEXT_CHARACTERS, configure, redacted_output


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


def test_what_others_print_and_log_holds_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """A plugin's print, a library's warning; afterwards the streams are what they were."""
    streams = sys.stdout, sys.stderr
    with redacted_output(lambda text: text.replace("sk-canary", "***")):
        print("said sk-canary")
        print("to stderr sk-canary", file=sys.stderr, flush=True)
        logging.getLogger("tests.plugin").warning("key %s", "sk-canary")

    told = capsys.readouterr()
    assert (sys.stdout, sys.stderr) == streams
    assert told.out == "said ***\n"
    assert "to stderr ***" in told.err
    assert "canary" not in told.err
