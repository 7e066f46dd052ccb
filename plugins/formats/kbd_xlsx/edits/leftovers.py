"""What an edit would leave behind of what it deletes: texts in lists and copies beside the cells.

Cells name their texts in a list that all sheets share, so a text stays readable in the file when
its last cell is emptied or its sheet deleted. Such items are made empty, points of charts whose
cells are not found any more are taken out, and deleted sheets leave the lists of titles. What else
keeps a copy (the data of a pivot table, of a link, of a filter) is named.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_xlsx.parts.app_properties import rename_parts
from kbd_xlsx.parts.book import SheetTab
from kbd_xlsx.parts.markup import may_have_marks, plain, utf8, without_mark
from kbd_xlsx.parts.shared_strings import (
    StringItems,
    differing,
    string_uses,
    surrounding,
    usual_uses,
)

__all__ = ["Leftovers"]

_FEW = 16
"""Texts that are sought one by one before all cells are read."""

_MAX_LISTED = 10
# The strict variant writes the second.
_PROPERTIES = ("extended-properties", "extendedProperties")
_INLINE = re.compile(rb"<((?:[\w.-]+:)?)is(?=[\s>])[^<>]*>(.*?)</\1is\s*>", re.DOTALL)
_RUN = re.compile(rb"<(?:[\w.-]+:)?t(?:\s[^<>]*)?>([^<]*)</")
_RESULT = re.compile(
    rb't="str"[^<>]*>(?:\s*<(?:[\w.-]+:)?f(?:\s[^<>]*)?(?:(?<=/)>|>[^<]*</[^<>]*>))?'
    rb"\s*<(?:[\w.-]+:)?v(?:\s[^<>]*)?>([^<]*)</"
)
# A formula in a cell of a type for texts; a literal at its beginning makes a search fast.
_TEXT_RESULTS = tuple(
    re.compile(rb'"%b"[^<>]*>\s*<(?:[\w.-]+:)?f[\s>/]' % kind)
    for kind in (b"s", b"str", b"inlineStr")
)
# Where parts keep values of cells: as the text of an element, or in these attributes.
_COPY = re.compile(
    rb'>([^<>]+)<|\s(?:v|c|display)="([^"<]*)"'
    rb'|<(?:[\w.-]+:)?(?:f|customF)ilter\s[^<>]*?\bval="([^"<]*)"'
    rb'|<(?:[\w.-]+:)?cacheField\s[^<>]*?\bname="([^"<]*)"'
)
# A member of a cube: {[City].[Oslo]}.
_MEMBER = re.compile(rb'[.{](?:&amp;)?\[([^\[\]<>"]+)\]')
# What these hold is no copy of cells: names, looks, remarks, and texts of drawings.
_NO_COPIES = re.compile(
    r"^docProps/|(?:^|/)(?:styles|sharedStrings|calcChain|connections|xmlMaps|\[Content_Types\]"
    r"|itemProps\d*|person\d*|comments\d*|threadedComment\d*|theme\d*|styles\d*|colors\d*)\.xml$"
    r"|/(?:theme|threadedComments|persons|ctrlProps|activeX|media|diagrams)/",
    re.IGNORECASE,
)
_REFERENCE = re.compile(rb"<((?:[\w.-]+:)?)(strRef|multiLvlStrRef)\s*>(.*?)</\1\2\s*>", re.DOTALL)
_POINT = re.compile(rb"<((?:[\w.-]+:)?)pt(?=[\s>])[^<>]*>\s*<\1v\s*>([^<]*)</\1v\s*>\s*</\1pt\s*>")
_KINDS = (
    ("pivotcache", "a pivot table's data"), ("externallink", "a link's data"),
    ("chart", "a chart's own text"), ("worksheets/", "a filter or link"), ("tables/", "a filter"),
    ("metadata", "a cube's members"), ("customxml", "mapped data"), ("revision", "tracked changes"),
)  # fmt: skip


class _Tab(msgspec.Struct, frozen=True):
    title: str
    sheet_id: int
    part: str


class _Held(msgspec.Struct):
    """What cells hold: places of shared strings, and other texts."""

    places: set[int]
    texts: set[str]


class Leftovers:
    """What an edit of a workbook leaves behind, found when it is saved.

    Args:
        rewriting: The package.
        main: The name of the workbook part.
        tabs: The sheets before the edit, with their parts ("" for one without).
    """

    def __init__(
        self, rewriting: Rewriting, main: str, tabs: Iterable[tuple[SheetTab, str]]
    ) -> None:
        self._rewriting, self._main = rewriting, main
        self._tabs = [_Tab(tab.title, tab.sheet_id, part) for tab, part in tabs]
        self._before: dict[str, bytes] = {}

    def keep(self, part: str, data: bytes) -> None:
        """Keep what a sheet's part held, which spares unpacking it a second time."""
        if not self._rewriting.is_changed(part):
            self._before.setdefault(part, data)

    def erase(
        self,
        tabs: Sequence[tuple[SheetTab, str]],
        notices: EditWarnings,
        *,
        only_results: bool = False,
    ) -> None:
        """Erase what is left behind, and warn of what cannot be.

        Args:
            tabs: The sheets after the edit, with their parts.
            notices: The warnings of the edit.
            only_results: Whether no text but a result of a formula was taken from the sheets.
        """
        if not self._rewriting.has_original:
            return
        self._list_titles([tab for tab, _ in tabs])
        parts = [part for _, part in tabs if part]
        try:
            self._erase_texts(parts, notices, only_results=only_results)
        except (FileReadFailed, ValidationFailed) as error:
            notices.warn(f"Texts that this edit took away may stay in the file: {error}.")

    def _erase_texts(
        self, parts: Sequence[str], notices: EditWarnings, *, only_results: bool
    ) -> None:
        gone = self._gone(set(parts), only_results=only_results)
        texts = self._without_strings(gone.places, parts) | gone.texts
        texts = {text for text in texts if text.strip()}
        if not texts:
            return
        found = self._copies(texts, parts)
        held = self._held(set().union(*found.values()), parts) if found else set()
        left = []
        for part, copied in found.items():
            copies = copied - held
            if copies and not self._without_points(part, copies):
                left.append(f"{part} ({_kind_of(part)})")
        left += [f"{part} (not searched)" for part in self._rewriting.parts() if "/model/" in part]
        left += [
            f"{relation.target} (a picture of the workbook as it was)"
            for relation in self._rewriting.relations("")
            if relation.kind == "thumbnail" and relation.target in self._rewriting
        ]
        if left:
            notices.warn(
                f"Deleted texts stay readable in {listed(left, _MAX_LISTED)}; copies of data are "
                "made anew when a spreadsheet program refreshes and saves the workbook."
            )

    def _gone(self, parts: set[str], *, only_results: bool) -> _Held:
        """Return what the sheets that were changed or deleted hold no more."""
        gone = _Held(set(), set())
        for tab in self._tabs:
            if not tab.part or not (self._rewriting.is_changed(tab.part) or tab.part not in parts):
                continue
            data = self._before.get(tab.part) or self._rewriting.original(tab.part)
            if data is None:
                continue
            old, new = utf8(data, tab.title), b""
            if only_results and not _may_have_text_results(old):
                continue
            if tab.part in parts:
                new = utf8(self._rewriting.read(tab.part), tab.title)
            held, holds = _differences(old, new)
            if held is None or holds is None:
                held = _Held(set(string_uses(old, tab.title)), _own_texts(old))
                uses = string_uses(new, tab.title) if new else []
                holds = _Held(set(uses), _own_texts(new))
            gone.places |= held.places - holds.places
            gone.texts |= held.texts - holds.texts
        return gone

    def _without_strings(self, places: set[int], parts: Sequence[str]) -> set[str]:
        """Make the items empty that no cell uses any more; return the texts that are gone so."""
        if len(places) <= _FEW:
            places = {place for place in places if not self._is_used(place, parts)}
        strings = self._strings()
        if not places or not strings:
            return set()
        all_uses = [string_uses(self._rewriting.read(part), part) for part in parts]
        used = set().union(*all_uses)
        places -= used
        if not places:
            return set()
        items = StringItems(self._rewriting.read(strings), self._rewriting.name)
        texts = {items.text(place) for place in places if place < len(items)} - {""}
        # Another item with the same text, which no cell used before, would tell it as well.
        equal = items.equal_to(texts) | places
        data = items.without(
            {each for each in equal - used if each < len(items)}, sum(map(len, all_uses))
        )
        self._rewriting.put(strings, data)
        return texts - {items.text(place) for place in equal & used}

    def _is_used(self, place: int, parts: Sequence[str]) -> bool:
        """Tell whether a cell is soon found that uses a string; it may be used where none is."""
        mark = b"><v>%d</v>" % place
        for part in parts:
            data, at = self._rewriting.read(part), 0
            # The same digits may be a number's, but not for ever.
            for _ in range(_FEW):
                at = data.find(mark, at + 1)
                if at < 0:
                    break
                if b' t="s"' in data[data.rfind(b"<", 0, at) : at]:
                    return True
        return False

    def _strings(self) -> str:
        relations = self._rewriting.relations(self._main)
        found = next((each.target for each in relations if each.kind == "sharedStrings"), "")
        return found if found in self._rewriting else ""

    def _copies(self, texts: set[str], parts: Sequence[str]) -> dict[str, set[str]]:
        """Return the parts that have texts as whole values, with these texts."""
        found = {}
        for part in self._rewriting.parts():
            if part == self._main or not part.endswith(".xml") or _NO_COPIES.search(part):
                continue
            data = self._rewriting.read(part)
            if part in parts:
                # Its cells are what was edited; a filter and a link stand around them.
                first, last = data.find(b"sheetData"), data.rfind(b"sheetData")
                data = data[:first] + data[max(last, 0) :]
            copied = {text for text in map(_copied, _COPY.finditer(data)) if text in texts}
            copied |= {text for text in map(plain, _MEMBER.findall(data)) if text in texts}
            if copied:
                found[part] = copied
        return found

    def _held(self, texts: set[str], parts: Sequence[str]) -> set[str]:
        """Return which texts some cell still holds."""
        held, used = set(), set[int]()
        for part in parts:
            data = self._rewriting.read(part)
            held |= texts & _own_texts(data)
            used.update(string_uses(data, part))
        strings = self._strings()
        if strings:
            items = StringItems(self._rewriting.read(strings), self._rewriting.name)
            held.update(items.text(each) for each in items.equal_to(texts) if each in used)
        return held

    def _without_points(self, part: str, texts: set[str]) -> bool:
        """Take the points that a chart keeps of gone texts out; tell whether that was all."""
        data = self._rewriting.read(part)
        if b"strRef" not in data and b"multiLvlStrRef" not in data:
            return False

        def point(found: re.Match[bytes]) -> bytes:
            return b"" if plain(found[2]) in texts else found[0]

        def reference(found: re.Match[bytes]) -> bytes:
            # Points of another workbook's cells are all that there is of them.
            return found[0] if b"[" in found[3] else _POINT.sub(point, found[0])

        data = _REFERENCE.sub(reference, data)
        self._rewriting.put(part, data)
        return not any(_copied(each) in texts for each in _COPY.finditer(data))

    def _list_titles(self, tabs: Sequence[SheetTab]) -> None:
        """Bring the titles of sheets in the application properties up to date."""
        now = {tab.sheet_id: tab.title for tab in tabs}
        titles = {tab.title: now.get(tab.sheet_id) for tab in self._tabs}
        changed = {old: new for old, new in titles.items() if old != new}
        part = next(
            (each.target for each in self._rewriting.relations("") if each.kind in _PROPERTIES), ""
        )
        if not changed or part not in self._rewriting:
            return
        root = self._rewriting.root(part)
        if rename_parts(root, _renamer(changed)):
            self._rewriting.put(part, xml_bytes(root))


def _renamer(titles: Mapping[str, str | None]) -> Callable[[str], str | None]:
    """Return what renames titles, and names that belong to a sheet (`Data!Print_Area`)."""

    def renamed(text: str) -> str | None:
        if text in titles:
            return titles[text]
        sheet, mark, name = text.rpartition("!")
        title = sheet[1:-1].replace("''", "'") if sheet[:1] == "'" == sheet[-1:] else sheet
        if not mark or title not in titles:
            return text
        new = titles[title]
        if new is None:
            return None
        quoted = "'" + new.replace("'", "''") + "'" if sheet != title or not new.isalnum() else new
        return f"{quoted}!{name}"

    return renamed


def _may_have_text_results(data: bytes) -> bool:
    """Tell whether a formula of a sheet's part may have a text for its stored result."""
    # Comments and references may hide one, and few programs quote so.
    unusual = (b'"&#', b"'&#", b"'s'", b"'str'", b"'inlineStr'")
    if may_have_marks(data) or any(sign in data for sign in unusual):
        return True
    return any(kind.search(data) for kind in _TEXT_RESULTS)


def _differences(old: bytes, new: bytes) -> tuple[_Held | None, _Held | None]:
    """Return what rows hold that two versions of a part do not share, and perhaps some others."""
    marks = (b"inlineStr", b'"str"')
    if not any(mark in data for data in (old, new) for mark in marks):
        # Places of shared strings are few bytes each, so all rows between changes may be read.
        held, holds = (_contents(blocks) for blocks in surrounding(old, new))
        if held is not None and holds is not None:
            return held, holds
    held, holds = (_contents(blocks) for blocks in differing(old, new))
    return held, holds


def _contents(blocks: Iterable[bytes]) -> _Held | None:
    """Return what the cells of some rows hold; None if they are not in the usual form."""
    held = _Held(set(), set())
    for block in blocks:
        uses = usual_uses(block)
        if uses is None:
            return None
        held.places.update(uses)
        held.texts |= _own_texts(block)
    return held


def _own_texts(data: bytes) -> set[str]:
    """Return the texts that cells hold themselves, and results of formulas that are texts."""
    found = set[str]()
    if b"inlineStr" in data:
        inline = (without_mark(each[2]) for each in _INLINE.finditer(data))
        found.update(plain(b"".join(_RUN.findall(each))) for each in inline)
    if b'"str"' in data:
        found.update(map(plain, _RESULT.findall(data)))
    return found


def _copied(found: re.Match[bytes]) -> str:
    """Return the value that a part holds, "" for a number, which tells no text."""
    text = plain(found[found.lastindex or 0]).strip()
    return "" if found.lastindex == 1 and _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind_of(part: str) -> str:
    folded = part.lower()
    return next((words for mark, words in _KINDS if mark in folded), "a copy")
