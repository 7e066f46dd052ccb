"""Facts for receipts of plain files: which lines differ, as bytes, whatever their encoding."""

import hashlib
from collections.abc import Sequence
from typing import Any, overload

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.receipts import MAX_PART_BYTES, Allowance, ReceiptItem, cut_text, sequence_facts

__all__ = ["line_facts"]

MAX_LINES = 1_000_000
"""A file with more lines is told as a whole."""


class _Lines(Sequence[ReceiptItem]):
    """The lines of a file; each is made an item when it is looked at."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.split(b"\n")
        if not self._lines[-1]:
            self._lines.pop()
        self._ends = data.endswith(b"\n")

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> ReceiptItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[ReceiptItem]: ...
    def __getitem__(self, index: int | slice) -> ReceiptItem | list[ReceiptItem]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        line = self._lines[index]
        # The last line may have no end; that is a difference, too.
        is_ended = self._ends or index < len(self._lines) - 1
        digest = hashlib.sha256(line + b"\n" if is_ended else line).hexdigest()
        text = line.removesuffix(b"\r").decode("utf-8", "replace")
        return ReceiptItem(digest, cut_text("text", text))


def line_facts(
    versions: Sequence[Source | None], steps: Sequence[int], limit: int
) -> dict[str, Any]:
    """Return what differs between versions of a plain file, line by line.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    try:
        sizes = [each.path.stat().st_size for each in versions if each is not None]
        if max(sizes) > MAX_PART_BYTES:
            return {"kind": "lines", "unread": "large"}
        data = [b"" if each is None else each.path.read_bytes() for each in versions]
    except OSError as error:
        raise FileReadFailed("a version cannot be read") from error
    if max(each.count(b"\n") for each in data) > MAX_LINES:
        return {"kind": "lines", "unread": "large"}
    lists = {"lines": sequence_facts([_Lines(each) for each in data], steps, Allowance(limit))}
    return {"kind": "lines", "lists": lists}
