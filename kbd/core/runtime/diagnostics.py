"""Diagnostic log of the daemon, for its operator: JSON lines or, on a terminal, text.

It is not the event log. It holds no secret, no file content, and no local variables of a
traceback; whatever a file's name or an error's text contains, an entry stays one line (in text
form a traceback follows, each of its lines indented).
"""

import io
import logging
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

__all__ = ["configure", "get_logger", "redacted_output"]


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
    stream: TextIO,
    *,
    json: bool,
    redact: Callable[[str], str] = str,
    level: int = logging.INFO,
) -> None:
    """Set structlog up for this process; the last call holds.

    Args:
        stream: Where entries are written, one `write` each.
        json: Whether they are JSON objects; else text for people.
        redact: Replaces secrets in a text, as `Secrets.redact` does.
        level: Entries below it are dropped.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.format_exc_info,
            _EntryCleaner(redact),
            structlog.processors.JSONRenderer(sort_keys=True) if json else _console(stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )


def _console(stream: TextIO) -> structlog.types.Processor:
    return structlog.dev.ConsoleRenderer(
        colors=stream.isatty(),
        exception_formatter=structlog.dev.plain_traceback,
        timestamp_key="ts",
        sort_keys=True,
    )


@contextmanager
def redacted_output(redact: Callable[[str], str]) -> Iterator[None]:
    """Redact secrets, within the block, from what plugins print and libraries log.

    Args:
        redact: Replaces secrets in a text, as `Secrets.redact` does.
    """
    out, err = _RedactedStream(sys.stdout, redact), _RedactedStream(sys.stderr, redact)
    with redirect_stdout(out), redirect_stderr(err):
        yield


class _RedactedStream(io.TextIOBase):
    """Text stream that redacts secrets, so that its writer need not know them.

    Args:
        stream: Where it goes.
        redact: Replaces secrets in a text, as `Secrets.redact` does.
    """

    def __init__(self, stream: TextIO, redact: Callable[[str], str]) -> None:
        self._stream, self._redact = stream, redact

    def write(self, text: str, /) -> int:
        """Write a text, without the secrets in it."""
        self._stream.write(self._redact(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what waits."""
        self._stream.flush()

    def fileno(self) -> int:
        """Return the file that it goes to."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Return whether that is a terminal."""
        return self._stream.isatty()


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
            lines = self._redact(trace).split("\n")
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
