"""Cells of workbooks that hold a text, found by reading all sheets.

A reading shows each cell on one line, text that could be taken for something else in quotes. Only
texts are taken: formulas, numbers and dates that happen to hold the same signs are reported.

Texts read whole, so that they can be written again with nothing else changed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.files import TABLE_SUFFIXES
from kbd_offline.names import split_suffix
from kbd_offline.request_text import UnclearError

__all__ = [
    "FoundCell",
    "FoundCells",
    "WholeText",
    "find_cells",
    "occurrences",
    "read_texts",
    "replaced",
]

MAX_TEXT_BYTES = 1_000_000
"""A text is in the conversation as it was read and as it is written; a model's would be full."""

_LINES = 500
_MARK = "\ufeff"
# The tool that writes adds no mark, so one that was there is written as a character.
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
    # A function: in a template a backslash of the text would mean something.
    return re.sub(re.escape(search), lambda _: replacement, text, flags=flags)


def read_texts(conversation: PlannerConversation, paths: Sequence[str]) -> list[WholeText | str]:
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


def _read(conversation: PlannerConversation, sizes: dict[str, int]) -> dict[str, WholeText | str]:
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
    # A reading ends all lines in LF; which end the file has shows in its size alone.
    for line_end in ("\n", "\r\n"):
        text = WholeText(content, line_end, mark, separators)
        if len(text.written(content).encode()) == size_bytes:
            return text
    return (
        "it cannot be written again just as it is (its lines end in several ways, or are too long)"
    )


MAX_CELLS = 200_000
MAX_FOUND = 20_000

_ROWS = 200
_AREA = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SIGNS = {"t": "\t", "r": "\r", "n": "\n"}
# The other side of what kbd_xlsx puts in quotes: a text that looks so would stand in them.
_TYPED = re.compile(r"[0-9.+-].*[0-9]\Z|[0-9]\Z|=|(?i:true|false)\Z", re.DOTALL)


class FoundCell(msgspec.Struct, frozen=True):
    """A cell that holds a text."""

    sheet: str
    name: str
    text: str


class FoundCells(msgspec.Struct, frozen=True):
    """The cells with a text, how often it is in them, and what was left alone."""

    cells: tuple[FoundCell, ...]
    hits: int
    notes: tuple[str, ...]


def find_cells(
    conversation: PlannerConversation, path: str, search: str, *, match_case: bool
) -> FoundCells:
    """Return the cells of a workbook that hold a text.

    Raises:
        UnclearError: There are more cells than are read this way.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    info = conversation.call("get_file_info", path=path)
    calls = [call for sheet in info.get("sheets", ()) for call in _read_calls_of_cells(path, sheet)]
    cells, formulas, others = list[FoundCell](), 0, 0
    for (_, arguments), found in zip(calls, conversation.calls(*calls), strict=True):
        for name, shown in _cells(path, arguments, str(found["text"])):
            text = _text(shown)
            if not occurrences(shown if text is None else text, search, match_case=match_case):
                continue
            if text is not None:
                cells.append(FoundCell(arguments["sheet"], name, text))
            elif shown.startswith(("=", "{=")):
                formulas += 1
            else:
                others += 1
    if len(cells) > MAX_FOUND:
        raise UnclearError(f"{path} has it in {len(cells)} cells; I change up to {MAX_FOUND}")
    hits = sum(occurrences(cell.text, search, match_case=match_case) for cell in cells)
    left = ((formulas, "formula", "formulas"), (others, "number or date", "numbers or dates"))
    notes = tuple(
        f"{count} {one if count == 1 else many} of {path} with it left alone"
        for count, one, many in left
        if count
    )
    return FoundCells(tuple(cells), hits, notes)


def _read_calls_of_cells(path: str, sheet: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    area = _AREA.match(str(sheet.get("range") or ""))
    if area is None:
        return
    if int(sheet["row_count"]) * int(sheet["col_count"]) > MAX_CELLS:
        raise UnclearError(f"{path} has more than {MAX_CELLS:,} cells on sheet {sheet['name']}")
    left, top, right, bottom = area.group(1), int(area.group(2)), area.group(3), area.group(4)
    last = int(bottom or top)
    for start in range(top, last + 1, _ROWS):
        end = min(start + _ROWS - 1, last)
        yield (
            "read_file",
            {
                "path": path,
                "sheet": str(sheet["name"]),
                "range": f"{left}{start}:{right or left}{end}",
            },
        )


def _cells(path: str, arguments: dict[str, Any], text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a reading: their names, and what is shown of them.

    Raises:
        UnclearError: The reading was cut.
    """
    # The first line names the range that was read; of a reading that was cut it ends too early.
    place, _, grid = text.partition("\n")
    wanted = arguments["range"].rpartition(":")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    got = re.search(r"(\d+)\Z", place)
    if got is None or int(got.group(1)) < int(wanted):
        raise UnclearError(f"sheet {arguments['sheet']} of {path} holds more text than I read")
    header, *rows = grid.split("\n")
    letters = header.split("\t")[1:]
    for row in rows:
        number, *shown = row.split("\t")
        # Blank cells at a row's end are left out.
        for letter, value in zip(letters, shown, strict=False):
            yield f"{letter}{number}", value


def _text(shown: str) -> str | None:
    """Return the text of a cell, or None if it holds something else."""
    if len(shown) > 1 and shown[0] == shown[-1] == '"':
        return _unescaped(shown[1:-1])
    if _TYPED.match(shown) or shown.startswith(("{=", "#")):
        return None
    return _unescaped(shown)


def _unescaped(line: str) -> str:
    return _ESCAPED.sub(lambda found: _SIGNS.get(found.group(1), found.group(1)), line)
