"""What may be printed: text without control sequences, plain tables, questions.

Names of files and words of models are not ours: an escape sequence in one of them could redraw the
terminal and hide what a person is about to agree to.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Sequence

__all__ = [
    "ask",
    "clean",
    "columns",
    "counted",
    "draws",
    "duration",
    "interactive",
    "line",
    "moment",
    "money",
    "note",
    "say",
    "size",
    "table",
]

# CSI and OSC sequences whole; then every control character but newline and tab; then the marks
# that turn the direction of writing, which can make a name read as another.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return the text without escape sequences, control characters and direction marks."""
    if text.isprintable():
        return text  # Most are; none of what is taken out is printable.
    encoded = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROLS.sub("", _SEQUENCES.sub("", encoded))


def line(text: str, width: int = 200) -> str:
    """Return the text as one clean line that takes at most `width` columns of a terminal."""
    one = " ".join(clean(text).split())
    if len(one) <= width and _columns(one) <= width:
        return one
    cut = one[: width - 1]
    while _columns(cut) > width - 1:
        cut = cut[:-1]
    return f"{cut}…"


def columns(otherwise: int) -> int:
    """Return how many columns stdout has; `otherwise` if it is no terminal, or says nothing."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or otherwise
    except (OSError, ValueError):
        return otherwise


def say(text: str = "") -> None:
    """Print to stdout, cleaned, at once."""
    print(clean(text), flush=True)


def note(text: str) -> None:
    """Print to stderr, cleaned: progress, warnings, what went wrong."""
    print(clean(text), file=sys.stderr, flush=True)


def draws() -> bool:
    """Whether progress may be drawn: stderr is a terminal that nobody asked to be plain."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain


def interactive() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> bool:
    """Ask a person; anything but yes is no."""
    print(f"{clean(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def counted(count: int, noun: str) -> str:
    """Return a number of things, in the singular or the plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def duration(seconds: float) -> str:
    """Return a length of time as people read it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2])


def money(dollars: float) -> str:
    """Return an amount of US dollars: to the cent, below a dollar to a hundredth of one."""
    return f"${dollars:,.4f}" if 0 < dollars < 1 else f"${dollars:,.2f}"


def moment(time: str) -> str:
    """Return a time of the wire to the minute; it is UTC."""
    return time[:16].replace("T", " ")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, in columns as wide as they need, the last one ragged."""
    lines = [header, *([line(cell, 80) for cell in row] for row in rows)]
    widths = [max(_columns(cells[at]) for cells in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _columns(cell)) for cell, width in zip(cells, widths, strict=True)
        ).rstrip()
        for cells in lines
    )


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes (Unicode Standard Annex 11)."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
