"""Diagnostic log of the daemon, for its operator: JSON lines or, on a terminal, text.

It is not the event log. It holds no secret, no file content, and no local variables of a
traceback; whatever a file's name or an error's text contains, an entry stays one line (in text
form a traceback follows, each of its lines indented). Entries past a rate are dropped, and the next
one says how many.
"""

import io
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO, cast

__all__ = ["captured_output", "configure", "get_logger"]


@contextmanager
def _import_absent(package: str) -> Iterator[None]:
    """Let imports find a package missing, as None in `sys.modules` does, unless it is there."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]


# structlog uses rich, where it is installed, for tracebacks in a form that we do not show. Without
# it the daemon starts in 100 ms less. Whoever imports structlog sooner has it with rich, and works.
with _import_absent("rich"):
    import structlog
    from structlog import get_logger


TEXT_CHARACTERS = 8192
"""Characters of one value that are shown: a log line is read, or indexed, not archived."""

TRACE_CHARACTERS = 32_768
"""Characters of a traceback that are shown."""

LINE_CHARACTERS = 65_536
"""Characters of a line that is printed and has not ended, after which it is logged as it is."""

BURST_ENTRIES = 1000
"""Entries that may come at once."""

ENTRIES_PER_S = 50
"""Entries a second that are logged for as long as it takes; the others are counted."""

NESTING_LEVELS = 6
"""Levels of nested values that are shown."""

# C0 and C1 controls, line and paragraph separators, and the marks that turn writing round.
_ESCAPES = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in (
        *range(0x20), *range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010),
        *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF, *range(0xD800, 0xE000),
    )
}  # fmt: skip


def configure(
    stream: TextIO | io.TextIOBase,
    *,
    json: bool,
    redact: Callable[[str], str] = str,
    level: int = logging.INFO,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Set structlog up for this process; the last call holds.

    Args:
        stream: Where entries are written, one `write` each.
        json: Whether they are JSON objects; else text for people.
        redact: Replaces secrets in a text, as `Secrets.redact` does.
        level: Entries below it are dropped.
        clock: Seconds, never going back; entries past a rate are dropped and counted.
    """
    structlog.configure(
        processors=[
            _EntryLimit(clock),
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.format_exc_info,
            _EntryCleaner(redact),
            structlog.processors.JSONRenderer(sort_keys=True) if json else _console(stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", _TolerantStream(stream))),
        cache_logger_on_first_use=False,
    )


def _console(stream: TextIO | io.TextIOBase) -> structlog.types.Processor:
    return structlog.dev.ConsoleRenderer(
        colors=stream.isatty(),
        exception_formatter=structlog.dev.plain_traceback,
        timestamp_key="ts",
        sort_keys=True,
    )


@contextmanager
def captured_output() -> Iterator[None]:
    """Make an entry of each line that plugins print and libraries log, within the block.

    So it is redacted, escaped and limited as all else, and a line that is printed cannot pass for
    an entry of kbd's.
    """
    out, err = _LoggedStream(sys.stdout, "stdout"), _LoggedStream(sys.stderr, "stderr")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            yield
    finally:
        out.end()
        err.end()


class _TolerantStream(io.TextIOBase):
    """Stream of the log that loses an entry where its disk is full or gone, and raises nothing.

    The log lies in the home where a daemon works in the background. What is told there must not
    fail whatever was being done, nor what ends the daemon change its exit code.

    Args:
        stream: Where entries are written.
    """

    def __init__(self, stream: TextIO | io.TextIOBase) -> None:
        self._stream = stream
        # Without the buffer, which would keep what could not be written and fail again at the end.
        self._raw = getattr(getattr(stream, "buffer", None), "raw", None)

    def write(self, text: str, /) -> int:
        """Write an entry, or lose it."""
        with suppress(OSError):
            if self._raw is None:
                self._stream.write(text)
            else:
                self._raw.write(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Hand on what is buffered, if that can be."""
        with suppress(OSError):
            self._stream.flush()


class _LoggedStream(io.TextIOBase):
    """Text stream whose lines become entries of the log.

    Args:
        stream: What it stands for.
        name: What entries call it.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._begun = ""
        self._writing = threading.RLock()

    def write(self, text: str, /) -> int:
        """Take a text; its lines are logged when they are whole, or too long to wait for."""
        with self._writing:
            *whole, self._begun = f"{self._begun}{text}".split("\n")
            for line in whole:
                self._log(line)
            if len(self._begun) > LINE_CHARACTERS:
                self.end()
        return len(text)

    def end(self) -> None:
        """Log what was begun and not ended."""
        with self._writing:
            line, self._begun = self._begun, ""
            self._log(line)

    def _log(self, line: str) -> None:
        if line.strip():
            get_logger(__name__).info("printed", stream=self._name, text=line)

    def flush(self) -> None:
        """Do nothing: what waits is half a line."""

    def fileno(self) -> int:
        """Return the file that it stands for."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Return that it is no terminal: what is printed is not shown as it is."""
        return False


class _EntryLimit:
    """Processor of log entries that drops those past a rate, and has the next one tell how many.

    Args:
        clock: Seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._since, self._left = clock, clock(), float(BURST_ENTRIES)
        self._dropped = 0
        self._counting = threading.Lock()

    def __call__(
        self, _logger: object, method: str, entry: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        with self._counting:
            now = self._clock()
            self._left = min(BURST_ENTRIES, self._left + (now - self._since) * ENTRIES_PER_S)
            self._since = now
            # Why the daemon ends is told, whatever came before.
            if self._left < 1 and method != "critical":
                self._dropped += 1
                raise structlog.DropEvent
            self._left = max(0.0, self._left - 1)
            if self._dropped:
                entry["dropped"], self._dropped = self._dropped, 0
        return entry


class _EntryCleaner:
    """Processor of log entries that redacts, shortens and escapes every text."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    def __call__(
        self, _logger: object, _method: str, entry: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        trace = entry.pop("exception", None)
        clean: dict[str, Any] = {
            self._text(str(key)): self._value(value, NESTING_LEVELS) for key, value in entry.items()
        }
        if isinstance(trace, str):
            # The end of a trace has the error; what it holds may be a file's.
            lines = self._redact(trace)[-TRACE_CHARACTERS:].split("\n")
            clean["exception"] = "\n".join("  " + line.translate(_ESCAPES) for line in lines)
        return clean

    def _value(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, dict | list | tuple | set | frozenset) and depth == 0:
            return "..."
        if isinstance(value, dict):
            return {self._text(str(k)): self._value(v, depth - 1) for k, v in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(part, depth - 1) for part in value]
        return self._text(value if isinstance(value, str) else repr(value))

    def _text(self, text: str) -> str:
        # Redacted before it is cut, so that half a key does not slip through.
        text = self._redact(text)
        if len(text) > TEXT_CHARACTERS:
            text = f"{text[:TEXT_CHARACTERS]}... ({len(text)} characters)"
        return text.translate(_ESCAPES)
