"""The sheets of a workbook: which a request names, and which it may mean. Pure but for a look."""

import re
from collections.abc import Sequence

import msgspec

from kbd_offline.conversation import PlannerConversation
from kbd_offline.files import BOOK_SUFFIXES, RequestFiles
from kbd_offline.intents import TableIntent
from kbd_offline.names import fold, split_suffix
from kbd_offline.request_text import UnclearError

__all__ = ["WorkbookFacts", "is_book", "look_into", "on_sheet", "take_sheets", "wants_each_sheet"]

_SHEET = r"(?:work)?(?:sheets?|tabs?)"
_EACH = (
    rf"\b(?:each|every|all|both)\s+(?:of\s+)?(?:(?:the|its|my|single|different)\s+)*{_SHEET}\b"
    rf"|\b{_SHEET}\s+(?:each|separately|individually)\b"
)
_QUOTES = "\"'“”‘’`"


class WorkbookFacts(msgspec.Struct, frozen=True):
    """A workbook's sheets by name: all, those that hold anything, those that nobody sees."""

    path: str
    sheets: tuple[str, ...]
    filled: tuple[str, ...]
    hidden: tuple[str, ...] = ()

    def several(self) -> UnclearError:
        """Return the refusal to choose among its sheets."""
        names = ", ".join(f'"{name}"' for name in self.filled)
        return UnclearError(f"{self.path} has several sheets: {names}. Say which one.")


def is_book(path: str) -> bool:
    """Tell whether a file is a workbook."""
    return split_suffix(path)[1] in BOOK_SUFFIXES


def look_into(conversation: PlannerConversation, paths: Sequence[str]) -> list[WorkbookFacts]:
    """Return workbooks with their sheets; see `PlannerConversation.call` for what it raises."""
    infos = conversation.calls(*(("get_file_info", {"path": path}) for path in paths))
    return [
        WorkbookFacts(
            path,
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ())),
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ()) if sheet.get("range")),
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ()) if sheet.get("hidden")),
        )
        for path, info in zip(paths, infos, strict=True)
    ]


def take_sheets(text: str, sheets: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the sheets that a text names beside the word "sheet", and the text without them.

    Raises:
        UnclearError: A sheet that is named in quotes is not there.
    """
    # The longest first: "Q1 2024" is not "Q1".
    names = "|".join(re.escape(fold(name)) for name in sorted(sheets, key=len, reverse=True))
    one = rf"[{_QUOTES}]?(?:{names})(?![\w-])[{_QUOTES}]?"
    many = rf"{one}(?:\s*(?:,|and|&|,\s*and)\s*{one})*"
    spoken = (
        rf"\b{_SHEET}\s+(?:(?:called|named)\s+)?(?P<after>{many})"
        rf"|(?P<before>{many})\s+{_SHEET}\b"
    )
    folded = fold(text)
    found = re.search(spoken, folded) if sheets else None
    if found is None:
        missing = re.search(rf"\b{_SHEET}\s+(?:called\s+|named\s+)?[\"“`]([^\"”`]+)[\"”`]", folded)
        if missing:
            said, there = text[missing.start(1) : missing.end(1)], ", ".join(sheets)
            raise UnclearError(f'there is no sheet "{said}"; there are {there}')
        return (), text
    listed = found.group("after") or found.group("before")
    by_name = {fold(name): name for name in sheets}
    chosen = [by_name[match] for match in re.findall(rf"(?:{names})(?![\w-])", listed)]
    blank = " " * (found.end() - found.start())
    return tuple(dict.fromkeys(chosen)), text[: found.start()] + blank + text[found.end() :]


def wants_each_sheet(text: str) -> bool:
    """Tell whether a request speaks of every sheet."""
    return re.search(_EACH, fold(text)) is not None


def on_sheet(conversation: PlannerConversation, files: RequestFiles) -> RequestFiles:
    """Return the files of a request about one table; of a workbook with its sheet.

    Raises:
        UnclearError: More than one sheet may be meant.
    """
    if not is_book(files.source):
        return files
    (book,) = look_into(conversation, [files.source])
    chosen, text = take_sheets(files.text, book.sheets)
    meant = chosen or book.filled
    if len(meant) > 1 or wants_each_sheet(text):
        raise book.several()
    if not meant:
        raise UnclearError(f"{book.path} holds no table")
    return msgspec.structs.replace(files, sheet=meant[0], text=text)


def tables_in(book: WorkbookFacts, chosen: Sequence[str]) -> tuple[TableIntent, ...]:
    """Return the tables of a workbook: of the chosen sheets, else of all that hold anything."""
    return tuple(TableIntent(book.path, sheet) for sheet in chosen or book.filled)
