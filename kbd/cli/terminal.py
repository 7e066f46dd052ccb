"""Text for a terminal: escaping of control sequences, display width, plain tables, questions.

Names of files and words of models are not ours: an escape sequence in one of them could redraw the
terminal and hide what a person is about to agree to.

The display width of a text is what `rich.cells` measures: grapheme by grapheme, so that combining
marks, zero-width characters and emoji joined by U+200D take the columns that they are drawn in.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence

from kbd.figures import counted, duration, money, size

__all__ = [
    "ask",
    "ask_text",
    "can_draw",
    "cell_width",
    "clean",
    "columns",
    "counted",
    "duration",
    "format_time",
    "graphemes",
    "is_interactive",
    "line",
    "money",
    "note",
    "render_table",
    "say",
    "size",
    "truncate",
    "wrap",
]

TAB_COLUMNS = 4

MAX_CHARACTERS_PER_COLUMN = 8
"""How many characters a column may hold before a text is cut for their number alone.

Emoji have up to five (a kiss of two with skin tones: ten in two columns), letters with marks fewer;
a name of ten thousand accents on one letter is somebody's joke.
"""

# By hand, as neither library does it: rich.text.Text.from_ansi and prompt_toolkit's ANSI obey some
# sequences instead of taking all out, and leave the marks of direction in.
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
    # Half a pair of surrogates cannot be encoded, and printing it would fail.
    encoded = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROLS.sub("", _SEQUENCES.sub("", encoded))


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a clean text takes."""
    if text.removesuffix("…").isascii():  # Our own mark of a cut takes one.
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - 9 ms, for other than ASCII

    return cell_len(text)


def graphemes(text: str) -> Iterator[tuple[str, int]]:
    """Yield what a clean text is drawn as, sign by sign, each with the columns that it takes."""
    from rich.cells import split_graphemes  # noqa: PLC0415 - 9 ms, for other than ASCII

    spans, _ = split_graphemes(text)
    for start, end, taken in spans:
        yield text[start:end], taken


def line(text: str, width: int = 200) -> str:
    """Return the text as one clean line, its blanks single, of at most `width` columns."""
    return _truncate_cells(" ".join(clean(text).split()), width)


def truncate(text: str, width: int) -> str:
    """Return the text as one clean line of at most `width` columns, with `…` where it was cut."""
    return _truncate_cells(clean(text).replace("\n", " ").replace("\t", " "), width)


def wrap(text: str, width: int) -> list[str]:
    """Return a text as clean lines of at most `width` columns, broken at spaces if there are some.

    A line that is broken goes on as far in as it began, so that what is indented stays so.
    """
    # By hand: rich.text.Text.wrap does not indent what goes on, textwrap counts characters.
    lines: list[str] = []
    for one in clean(text).expandtabs(TAB_COLUMNS).split("\n"):
        indent = one[: len(one) - len(one.lstrip())][: width // 2]
        at = len(indent)
        # A line may be a file of megabytes: no more of it is copied than may fit.
        while not _fits(
            rest := indent + one[at : at + MAX_CHARACTERS_PER_COLUMN * width + 1], width
        ):
            end = max(_prefix(rest, width), len(indent) + 1)
            space = rest.rfind(" ", len(indent) + 1, end + 1)
            # A space far to the left would leave half of the line empty.
            if space > len(indent) + (end - len(indent)) // 2:
                end = space
            lines.append(rest[:end].rstrip())
            at += end - len(indent)
            while one[at : at + 1].isspace():
                at += 1
        lines.append(rest)
    return lines


def _truncate_cells(text: str, width: int) -> str:
    if _fits(text, width):
        return text
    return f"{text[: _prefix(text, width - 1)]}…" if width > 0 else ""


def _fits(text: str, width: int) -> bool:
    return len(text) <= width * MAX_CHARACTERS_PER_COLUMN and cell_width(text) <= width


def _prefix(text: str, width: int) -> int:
    """Return how many characters fit into so many columns; no grapheme is torn."""
    if text.isascii():
        return min(width, len(text))
    from rich.cells import split_graphemes  # noqa: PLC0415 - loaded with cell_len

    end = 0
    # Most texts have at most two characters a column: measuring more would be for nothing.
    for reach in (2 * width, MAX_CHARACTERS_PER_COLUMN * width):
        end = used = 0
        spans, _ = split_graphemes(text[:reach])
        for _, after, taken in spans:
            used += taken
            if used > width:
                return end
            end = after
    return end


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


def can_draw() -> bool:
    """Return whether progress may be drawn: stderr is a terminal, and not set to be plain."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return sys.stderr.isatty() and not plain


def is_interactive() -> bool:
    """Return whether a person is at the terminal to answer questions."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> bool:
    """Ask a person; anything but yes is no."""
    return ask_text(f"{question} [y/N]").lower() in {"y", "yes"}


def ask_text(question: str) -> str:
    """Ask a person and return the answer, stripped; "" also at the end of the input."""
    # On stderr: stdout may be a file that wants the result alone.
    print(f"{clean(question)} ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def format_time(time: str) -> str:
    """Return a time of the wire to the minute; it is UTC."""
    return time[:16].replace("T", " ")


def render_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, in columns as wide as they need, the last one ragged."""
    # By hand: rich.table needs a Console, 55 ms in a `kbd status` of 65, and folds or drops what is
    # wider than that; scripts read these rows.
    lines = [header, *([line(cell, 80) for cell in row] for row in rows)]
    widths = [max(cell_width(cells[at]) for cells in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - cell_width(cell))
            for cell, width in zip(cells, widths, strict=True)
        ).rstrip()
        for cells in lines
    )
