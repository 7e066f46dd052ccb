"""Whether a file may have lines beside its table that only reading it row by row can tell.

Rows can be skipped by their bytes only where each line is a row from the first one on. What could
make a line none (an empty line, a comment, the header again, a last line with few values) is looked
for in the bytes, which takes a fraction of the time that parsing takes.
"""

import codecs
import mmap
import re

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.plaintext.versions import TextVersion
from kbd_csv.head import TableHead
from kbd_csv.layout import COMMENT_MARK

__all__ = ["may_leave_out"]

_TAIL_BYTES = 64 * 1024


def may_leave_out(source: Source, text: TextVersion, head: TableHead) -> bool:
    """Tell whether lines may be none of the table that are not above it; never wrongly no.

    Args:
        source: The file.
        text: What it is as a text.
        head: Of its table.

    Raises:
        FileReadFailed: It cannot be opened.
    """
    layout = head.layout
    if layout.declared < 1:
        return False
    if text.encoding.name.startswith(("utf-16", "utf-32")) or "CR" in text.ends:
        return True
    # What is above the table is passed over by its bytes.
    if layout.is_lower and not text.is_bytewise:
        return True
    if layout.is_list:
        return layout.has_comments
    if layout.has_rules or layout.record_code:
        return True
    codec = text.encoding.name.removesuffix("-sig")
    try:
        with (
            source.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _may_leave_out(data, head, codec)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened") from error


def _may_leave_out(data: mmap.mmap, head: TableHead, codec: str) -> bool:
    layout, dialect = head.layout, head.dialect
    tail = data[-_TAIL_BYTES:]
    filled = tail.rstrip(b" \t\r\n")
    if not filled:
        return True
    end = len(data) - len(tail) + len(filled)
    start = _line_start(data, layout.start)
    mark = re.escape(dialect.delimiter.encode(codec))
    if re.compile(rb"\n(?:[ \t\r]|" + mark + rb")*\n").search(data, start, end):
        return True
    if layout.has_comments and data.find(b"\n" + COMMENT_MARK.encode(), start, end) >= 0:
        return True
    if data.find(b"\n" + codecs.BOM_UTF8, start, end) >= 0:
        return True
    for name in _starts(head):
        # The codec may lack what was decoded by a repair.
        written = name.encode(codec, errors="replace")
        if data.find(b"\n" + written, start, end) >= 0:
            return True
    last = filled.rpartition(b"\n")[2].decode(codec, errors="replace")
    values = [value for value in last.split(dialect.delimiter) if value.strip()]
    if filled.endswith((b",", b";")) and len(values) < 2:
        return True
    return len(values) <= max(1, layout.typical // 2)


def _line_start(data: mmap.mmap, line: int) -> int:
    """Return the place before the line end that a line follows, or 0."""
    place = 0
    for _ in range(line - 1):
        place = data.find(b"\n", place) + 1
    return max(0, place - 1) if place else 0


def _starts(head: TableHead) -> list[str]:
    """Return how a line begins that repeats the header."""
    if head.header is None:
        return []
    name, quote, mark = head.header[0], head.dialect.quote_char, head.dialect.delimiter
    if not name:
        return [mark] if len(head.header) > 1 else []
    escaped = name.replace(quote, quote * 2)
    return [name + mark, f"{quote}{escaped}{quote}{mark}"]
