"""Texts read whole, so that they can be written again with nothing else changed."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from kbd_offline.conversation import CallFailedError, Conversation
from kbd_offline.files import TABLE_SUFFIXES
from kbd_offline.names import split_suffix

__all__ = ["WholeText", "occurrences", "read_texts", "replaced"]

MAX_TEXT_BYTES = 1_000_000
"""A text is in the conversation as it was read and as it is written; a model's would be full."""

_LINES = 500
_MARK = "\ufeff"
_AS_UTF8 = {"ascii": "", "utf-8": "", "utf-8-sig": _MARK}


class WholeText(msgspec.Struct, frozen=True):
    """A text file.

    Args:
        content: Its text, lines ended by LF.
        line_end: What ends its lines in the file.
        mark: The byte order mark that it begins with, or "".
        separators: The signs that part its fields and quote them, where it is a table.
    """

    content: str
    line_end: str
    mark: str
    separators: str = ""

    def written(self, content: str) -> str:
        """Return another content in the form of this file."""
        return self.mark + content.replace("\n", self.line_end)


def occurrences(text: str, search: str, *, match_case: bool) -> int:
    """Return how often a text stands in another, without overlaps."""
    return len(re.findall(re.escape(search), text, 0 if match_case else re.IGNORECASE))


def replaced(text: str, search: str, replacement: str, *, match_case: bool) -> str:
    """Return a text with another one in place of each occurrence."""
    flags = 0 if match_case else re.IGNORECASE
    return re.sub(re.escape(search), lambda _: replacement, text, flags=flags)


def read_texts(conversation: Conversation, paths: Sequence[str]) -> list[WholeText | str]:
    """Return text files whole, or why one cannot be written again as it is.

    Raises:
        PendingError: They have to be read first.
    """
    infos = conversation.outcomes(*(("get_file_info", {"path": path}) for path in paths))
    reasons = dict[str, str]()
    sizes = dict[str, int]()
    for path, info in zip(paths, infos, strict=True):
        if isinstance(info, CallFailedError):
            reasons[path] = str(info)
        elif info.get("kind") not in ("text", "table"):
            reasons[path] = "texts are not replaced in such files"
        elif int(info["size_bytes"]) > MAX_TEXT_BYTES:
            reasons[path] = f"it is larger than {MAX_TEXT_BYTES:,} bytes"
        else:
            sizes[path] = int(info["size_bytes"])
    texts = _read(conversation, sizes)
    return [texts.get(path) or reasons[path] for path in paths]


def _read(conversation: Conversation, sizes: dict[str, int]) -> dict[str, WholeText | str]:
    maps = conversation.outcomes(*(("get_file_map", {"path": path}) for path in sizes))
    texts = dict[str, WholeText | str]()
    wanted = dict[str, dict[str, Any]]()
    for path, found in zip(sizes, maps, strict=True):
        if isinstance(found, CallFailedError):
            texts[path] = str(found)
        elif found.get("encoding_detected") not in _AS_UTF8:
            texts[path] = f"it is {found.get('encoding_detected')}, and I write UTF-8"
        else:
            wanted[path] = found
    calls = {path: _reads(path, int(found["line_count"])) for path, found in wanted.items()}
    outcomes = iter(conversation.outcomes(*(one for some in calls.values() for one in some)))
    for path, some in calls.items():
        pieces = [next(outcomes) for _ in some]
        texts[path] = _put_together(path, pieces, sizes[path], wanted[path])
    return texts


def _reads(path: str, line_count: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("read_file", {"path": path, "line_start": start, "line_count": _LINES})
        for start in range(1, max(line_count, 1) + 1, _LINES)
    ]


def _put_together(
    path: str,
    pieces: Sequence[dict[str, Any] | CallFailedError],
    size_bytes: int,
    found: dict[str, Any],
) -> WholeText | str:
    """Return the text, if it has exactly the file's bytes when it is written again."""
    content = ""
    for piece in pieces:
        if isinstance(piece, CallFailedError):
            return str(piece)
        content += str(piece["text"])
    mark = _AS_UTF8[found["encoding_detected"]]
    is_table = split_suffix(path)[1] in TABLE_SUFFIXES
    separators = (
        f'{found.get("delimiter") or ","}{found.get("quote_char") or ""}"' if is_table else ""
    )
    for line_end in ("\n", "\r\n"):
        text = WholeText(content, line_end, mark, separators)
        if len(text.written(content).encode()) == size_bytes:
            return text
    return (
        "it cannot be written again just as it is (its lines end in several ways, or are too long)"
    )
