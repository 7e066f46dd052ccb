"""Findings in the stories of a document while they are rendered: pictures, notes, changes."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from lxml import etree

from kbd.office.paint import Verdict
from kbd_docx.document import VAL, W, is_on, number
from kbd_docx.reader.contents import DocxChange, DocxExternal, DocxPicture, TextNotices
from kbd_docx.reader.drawings import Graphics
from kbd_docx.reader.styles import ListLabels, StyleIndex, heading_level
from kbd_docx.reader.unseen import UnseenText

__all__ = ["Marks", "StoryFindings"]

_STYLE, _LIST, _OUTLINE = f"{W}pStyle", f"{W}numPr", f"{W}outlineLvl"
_LAYOUT, _BREAK, _LOOK = f"{W}sectPr", f"{W}pageBreakBefore", f"{W}rPr"
_HIDDEN, _SPECIAL, _RUN_STYLE = f"{W}vanish", f"{W}specVanish", f"{W}rStyle"

MAX_EXTERNAL = 200
_MAX_AUTHORS = 50
_SHOWN_CHARS = 300
MAX_CHANGES = 200
"""Tracked changes that are listed; all are counted."""

_CHANGE_CHARS = 200
_WORDS_CHARS = 100
_TEXTS = (f"{W}t", f"{W}delText")
_CITED = re.compile(r"\[(?:\^e?\d+|comment \d+)\]")
_NO_LIST = ("", "0")  # 0 takes a paragraph out of its style's list


class Marks(NamedTuple):
    """Properties of a paragraph that reading needs, with its list's label.

    Args:
        level: Its heading level, 0 for none.
        label: What its list puts before it.
        depth: The level of the list.
        is_hidden: Whether its text is not shown.
        breaks: Whether it begins a page.
        layout: The layout of the pages that end with it.
    """

    level: int = 0
    label: str = ""
    depth: int = 0
    is_hidden: bool = False
    breaks: bool = False
    layout: etree._Element | None = None


class StoryFindings:
    """Collector of what stories hold beside text: pictures, notes, changes, references.

    Args:
        styles: The styles.
        lists: The lists; each label that is asked for counts on.
        graphics: What charts and diagrams say.
        unseen: What tells text that people do not see for its look.
        may_hide: Whether any text of the body may be hidden.

    Attributes:
        has_new: Whether something was found since the last call of `take_notices` that belongs to
            the place where it stands.
    """

    def __init__(
        self,
        styles: StyleIndex,
        lists: ListLabels,
        graphics: Graphics,
        unseen: UnseenText,
        *,
        may_hide: bool,
    ) -> None:
        self.styles = styles
        self._unseen = unseen
        self.graphics = graphics
        self.may_hide = may_hide or styles.may_hide
        self.has_new = False
        self.pictures: list[DocxPicture] = []
        self.external: dict[DocxExternal, None] = {}
        self.authors: dict[str, None] = {}
        self.changes: list[DocxChange] = []
        self.inserted: Counter[str] = Counter()
        self.deleted: Counter[str] = Counter()
        self.commented: dict[str, str] = {}
        self._commented: dict[str, tuple[list[str], int]] = {}
        self.cited: list[tuple[str, str]] = []
        self._numbers: dict[str, dict[str, int]] = {}
        self._lists = lists
        self._notices: TextNotices | None = None
        default = styles.default
        self._by_style: dict[str, Marks] = {}
        self._plain = Marks(default.level, is_hidden=default.is_hidden)

    def begin_part(self, root: etree._Element) -> None:
        """Note before another part is rendered whether any of its text may be hidden."""
        self.may_hide = self.may_hide or self._unseen.may_hide(etree.tostring(root))

    def notices(self) -> TextNotices:
        """Return the counts of the block that is being rendered, to count on."""
        if self._notices is None:
            self._notices = TextNotices()
            self.has_new = True
        return self._notices

    def take_notices(self) -> TextNotices | None:
        """Return what was counted since the last call, None if nothing was."""
        found, self._notices = self._notices, None
        self.has_new = False
        return found

    def count_unseen(self, verdict: Verdict) -> None:
        """Count a text that people do not see, or may not."""
        counted = self.notices()
        counted.hidden += verdict == "hidden"
        counted.doubtful += verdict == "maybe hidden"

    def add_picture(self, picture: DocxPicture) -> None:
        """Add a picture."""
        self.pictures.append(picture)
        self.has_new = True

    def cite(self, kind: str, key: str) -> int:
        """Return the number of a note or comment, counted by kind in the order of citing."""
        numbers = self._numbers.setdefault(kind, {})
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            self.cited.append((kind, key))
            self.has_new = True
        return numbers[key]

    def numbers(self, kind: str) -> dict[str, int]:
        """Return the numbers that were given to notes or comments, by id."""
        return self._numbers.get(kind, {})

    def add_external(self, kind: str, target: str) -> None:
        """Add an external reference."""
        if len(self.external) < MAX_EXTERNAL:
            self.external[DocxExternal(kind, target.strip()[:_SHOWN_CHARS])] = None

    def count_change(self, element: etree._Element, *, is_deletion: bool) -> None:
        """Count a tracked change."""
        counted = self.notices()
        if is_deletion:
            counted.deletions += 1
        else:
            counted.insertions += 1
        author = element.get(f"{W}author", "")[:_SHOWN_CHARS]
        if len(self.authors) < _MAX_AUTHORS:
            self.authors[author] = None
        if author in self.authors:
            (self.deleted if is_deletion else self.inserted)[author] += 1
        if len(self.changes) < MAX_CHANGES:
            text = "".join(each.text or "" for each in element.iter(*_TEXTS))[:_CHANGE_CHARS]
            kind = "deleted" if is_deletion else "inserted"
            self.changes.append(DocxChange(kind, author, element.get(f"{W}date", ""), text))

    def begin_commented(self, key: str, out: list[str]) -> None:
        """Note that what a comment is about begins."""
        self._commented[key] = out, len(out)

    def end_commented(self, key: str, out: list[str]) -> None:
        """Note that what a comment is about ends."""
        begun, start = self._commented.pop(key, (out, len(out)))
        if begun is out:
            self.commented[key] = _words(out, start)

    def end_paragraph(self, out: list[str]) -> None:
        """Take the words of comments that go on in the next paragraph."""
        for key in [key for key, (begun, _) in self._commented.items() if begun is out]:
            _, start = self._commented.pop(key)
            self.commented[key] = f"{_words(out, start)} …"

    @property
    def is_commented(self) -> bool:
        """Whether what a comment is about has begun and not ended."""
        return bool(self._commented)

    def verdict(self, run: etree._Element) -> Verdict:
        """Return whether people see a run's text."""
        return "hidden" if self.is_left_out(run) else self._unseen.verdict(run)

    def is_left_out(self, run: etree._Element) -> bool:
        """Whether a run is called hidden, with all that is in it, boxes too."""
        properties = run.find(_LOOK)
        if properties is not None:
            own = properties.find(_HIDDEN)
            if own is not None and is_on(own):
                return True
            # It is for marks of paragraphs; programs leave out what text has it.
            special = properties.find(_SPECIAL)
            if special is not None and is_on(special):
                return True
            style = properties.find(_RUN_STYLE)
            name = "" if own is not None or style is None else style.get(VAL, "")
            if name and self.styles.style(name).is_hidden:
                return True
        return False

    def paragraph_marks(self, settings: etree._Element | None) -> Marks:
        """Return the properties of a paragraph, and advance its list."""
        if settings is None:
            if self.styles.default.list_id in _NO_LIST:
                return self._plain
        elif len(settings) == 1 and settings[0].tag == _STYLE:
            # Most paragraphs: a style and nothing else.
            marks = self._styled(settings[0].get(VAL, ""))
            if marks is not None:
                return marks
        return self._marks(() if settings is None else settings)

    def _marks(self, settings: Iterable[etree._Element]) -> Marks:
        """Return what each of a paragraph's settings says."""
        style, style_id = self.styles.default, ""
        level: int | None = None
        list_id: str | None = None
        depth: int | None = None
        layout, breaks = None, False
        for child in settings:
            tag = child.tag
            if tag == _STYLE:
                style_id = child.get(VAL, "")
                style = self.styles.style(style_id)
            elif tag == _LIST:
                list_id, depth = _listed(child)
            elif tag == _OUTLINE:
                level = heading_level(child)
            elif tag == _LAYOUT:
                layout = child
            elif tag == _BREAK:
                breaks = is_on(child)
            elif tag == _LOOK and len(child):
                self._mark_changes(child)
        list_id = style.list_id if list_id is None else list_id
        label = ""
        if list_id not in _NO_LIST:
            depth = style.list_level if depth is None else depth
            label, depth = self._lists.label(list_id, depth, style_id)
        level = style.level if level is None else level
        return Marks(level, label, depth or 0, style.is_hidden, breaks, layout)

    def _styled(self, style_id: str) -> Marks | None:
        """Return what a style alone makes of a paragraph; None if its list has to count."""
        marks = self._by_style.get(style_id)
        if marks is None:
            style = self.styles.style(style_id)
            if style.list_id in _NO_LIST:
                marks = self._by_style[style_id] = Marks(style.level, is_hidden=style.is_hidden)
        return marks

    def _mark_changes(self, properties: etree._Element) -> None:
        """Count that a paragraph's end was inserted or deleted."""
        for name, is_deletion in _MARK_CHANGES:
            found = properties.find(name)
            if found is not None:
                self.count_change(found, is_deletion=is_deletion)


def _words(out: list[str], start: int) -> str:
    """Return what was written since a place, without marks of what is hidden."""
    found = "".join(sign for sign in "".join(out[start:]) if sign >= " " or sign in "\t\n")
    return " ".join(_CITED.sub("", found).split())[:_WORDS_CHARS]


_MARK_CHANGES = ((f"{W}ins", False), (f"{W}del", True))


def _listed(element: etree._Element) -> tuple[str | None, int | None]:
    """Return the list that a paragraph names, and its level there."""
    list_id, level = element.find(f"{W}numId"), element.find(f"{W}ilvl")
    return (
        None if list_id is None else list_id.get(VAL, ""),
        None if level is None else number(level.get(VAL), 0, 0, 8),
    )
