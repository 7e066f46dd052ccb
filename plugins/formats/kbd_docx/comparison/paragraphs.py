"""Reader of one paragraph for a comparison: its text apart from its formatting, and all else in it.

ECMA-376, part 1, 17.3 (paragraphs and runs), 17.13.5 (tracked changes), 17.16 (fields).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec
from lxml import etree

from kbd.opc.element_names import local_name
from kbd_docx.comparison.contents import (
    InlineMark,
    InlineObject,
    Look,
    ParagraphContent,
    ParagraphRun,
    Tracked,
)
from kbd_docx.comparison.digests import CONTROL_IDS, new_hash
from kbd_docx.comparison.drawn import DrawnReader
from kbd_docx.comparison.looks import Looks, attributes_text
from kbd_docx.document import (
    MC,
    OFF,
    PARAGRAPH,
    SECTION,
    TABLE,
    VAL,
    M,
    W,
    body_children,
)
from kbd_docx.reader.stories import form_value
from kbd_docx.reader.symbols import linear_format, symbol_text
from kbd_docx.styles.stylesheet import value_of

__all__ = ["NoteKeys", "ParagraphReader", "control_name"]

NoteKeys = Mapping[tuple[str, str], str]
"""What tells a note or comment by its kind and id: its text."""

_TRACKED = {
    f"{W}ins": "inserted", f"{W}moveTo": "moved here", f"{W}del": "deleted",
    f"{W}moveFrom": "moved away",
}  # fmt: skip
_GONE = (f"{W}del", f"{W}moveFrom")
_SIGNS = {
    f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "\u2011",
    f"{W}softHyphen": "\u00ad",
}  # fmt: skip
_NOTES = {
    f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote",
    f"{W}commentReference": "comment", f"{W}commentRangeStart": "comment",
    f"{W}commentRangeEnd": "comment",
}  # fmt: skip
_DRAWN = (f"{W}drawing", f"{W}pict", f"{W}object")
_IGNORED = frozenset((
    f"{W}proofErr", f"{W}lastRenderedPageBreak", f"{W}pPr", f"{W}rPr", f"{W}sdtPr", f"{W}sdtEndPr",
    f"{W}annotationRef", f"{W}separator",
    f"{W}continuationSeparator", f"{W}smartTagPr", f"{W}customXmlPr", f"{W}fldData",
))  # fmt: skip
_OWN_NUMBERS = (f"{W}footnoteRef", f"{W}endnoteRef")
_ENTERED = frozenset((f"{W}smartTag", f"{W}customXml", f"{W}sdtContent", f"{W}r"))
_CURSOR = "_GoBack"
_MAX_KEY_CHARS = 200


class ParagraphReader:
    """Reader of the paragraphs of one part.

    Args:
        looks: What formatting means.
        drawn: Reader of what is drawn there, with the relations of the part.
        notes: What tells the notes that are cited.
    """

    def __init__(self, looks: Looks, drawn: DrawnReader, notes: NoteKeys) -> None:
        self._looks = looks
        self._drawn = drawn
        self._notes = notes

    def paragraph(self, element: etree._Element) -> ParagraphContent:
        """Return what a paragraph holds."""
        return _Paragraph(self._looks, self._drawn, self._notes, self).content(element)

    def paragraphs(self, parent: etree._Element) -> list[ParagraphContent]:
        """Return the paragraphs of a cell, a note, a header or a text box, those of tables too."""
        return [self.paragraph(each) for each in _all_paragraphs(parent)]


def _all_paragraphs(parent: etree._Element) -> Iterator[etree._Element]:
    for child in body_children(parent):
        if child.tag == PARAGRAPH:
            yield child
        elif child.tag == TABLE:
            for cell in child.iter(f"{W}tc"):
                # Cells of tables in this one come in their turn.
                yield from (each for each in body_children(cell) if each.tag == PARAGRAPH)


class _Paragraph:
    """A paragraph while it is read."""

    def __init__(
        self, looks: Looks, drawn: DrawnReader, notes: NoteKeys, reader: ParagraphReader
    ) -> None:
        self._looks, self._drawn, self._notes, self._reader = looks, drawn, notes, reader
        self._runs: list[ParagraphRun] = []
        self._items: list[InlineObject] = []
        self._marks: list[InlineMark] = []
        self._fields: list[list[str]] = []
        self._tracked: list[Tracked] = []
        self._rest: list[bytes] = []
        self._length = 0
        self._look: Look = ()
        self._link = ""
        self._current: tuple[Look, str] = ((), "")
        self._pieces: list[str] = []
        self._said: list[str] = []
        self._gone: list[tuple[str, Look]] | None = None
        self._bookmarks: dict[str, str] = {}

    def content(self, element: etree._Element) -> ParagraphContent:
        """Return what it holds."""
        settings = element.find(f"{W}pPr")
        numbered = None if settings is None else settings.find(f"{W}numPr")
        for child in element:
            self._read(child)
        if settings is not None:
            self._read_settings(settings)
        self._end_run()
        return ParagraphContent(
            text="".join(self._said),
            runs=tuple(self._runs),
            look=self._looks.paragraph(settings),
            style="" if settings is None else value_of(settings, "pStyle"),
            items=tuple(self._items),
            marks=tuple(self._marks),
            fields=tuple("".join(field).strip() for field in self._fields),
            tracked=tuple(self._tracked),
            rest=tuple(self._rest),
            list_id="" if numbered is None else value_of(numbered, "numId"),
        )

    def _read_settings(self, settings: etree._Element) -> None:
        """Read the tracked changes of the paragraph's look and end."""
        mark = settings.find(f"{W}rPr")
        for child in mark if mark is not None else ():
            if child.tag in _TRACKED:
                kind = f"end of paragraph {_TRACKED[child.tag]}"
                self._tracked.append(Tracked(kind, _author(child), date=_date(child)))
        for changed in settings.iterchildren(f"{W}pPrChange"):
            self._tracked.append(self._formatted(changed, ""))

    def _read(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == f"{W}r":
            self._read_run(element)
        elif tag in _IGNORED or not isinstance(tag, str):
            return
        elif tag in (f"{W}t", f"{W}delText"):
            self._add((element.text or "").replace("\n", " "))
        elif tag in _SIGNS:
            if tag == f"{W}ptab":
                # Where it is placed between the margins stands in its attributes.
                self._mark("sign", attributes_text(element))
            self._add(_SIGNS[tag])
        elif tag in _ENTERED:
            self._read_children(element)
        elif tag in _OWN_NUMBERS:
            self._marks.append(InlineMark("sign", self._length, "number", b"", _seen(self._look)))
        elif tag in _TRACKED:
            self._read_tracked(element)
        elif tag in _NOTES:
            self._read_note(element, _NOTES[tag])
        elif tag in _DRAWN:
            self._item(self._drawn.item(element, self._length, self._reader.paragraphs))
        else:
            self._read_rare(element, tag)

    def _read_children(self, element: etree._Element) -> None:
        for child in element:
            self._read(child)

    def _read_run(self, run: etree._Element) -> None:
        around = self._look
        properties = run.find(f"{W}rPr")
        self._look = self._looks.run(properties)
        if properties is not None:
            for changed in properties.iterchildren(f"{W}rPrChange"):
                text = "".join(each.text or "" for each in run.iterchildren(f"{W}t"))
                self._tracked.append(self._formatted(changed, text))
        for child in run:
            self._read(child)
        self._look = around

    def _read_tracked(self, element: etree._Element) -> None:
        start, around, at = len(self._said), self._gone, self._length
        if element.tag in _GONE:
            self._gone = []
        self._read_children(element)
        gone, self._gone = self._gone or [], around
        said = self._said[start:] if element.tag not in _GONE else [text for text, _ in gone]
        kind, look = _TRACKED[str(element.tag)], _look_digest(gone)
        self._tracked.append(
            Tracked(kind, _author(element), "".join(said), _date(element), look, at)
        )

    def _formatted(self, changed: etree._Element, text: str) -> Tracked:
        """Return a tracked change of formatting; what it was stands in it."""
        before = b"".join(map(self._drawn.digest, changed))
        return Tracked("formatted", _author(changed), text, _date(changed), before, self._length)

    def _read_note(self, element: etree._Element, kind: str) -> None:
        key = self._notes.get((kind, element.get(f"{W}id", "")), "")[:_MAX_KEY_CHARS]
        settings = element.get(f"{W}customMarkFollows", "").encode()
        look = _seen(self._look) if element.tag.endswith("noteReference") else ()
        self._marks.append(InlineMark(kind, self._length, key, settings, look))

    def _item(self, item: InlineObject) -> None:
        self._items.append(msgspec.structs.replace(item, link=self._link, look=_seen(self._look)))

    def _read_rare(self, element: etree._Element, tag: str) -> None:
        """Read what few paragraphs have."""
        match tag.removeprefix(W):
            case "hyperlink":
                around = self._link
                self._link = self._drawn.link(element)
                self._read_children(element)
                self._link = around
            case "br":
                self._read_break(element)
            case "sym":
                self._add(symbol_text(element.get(f"{W}font", ""), element.get(f"{W}char", "")))
            case "fldChar":
                self._read_field_mark(element)
            case "instrText" | "delInstrText":
                if self._fields:
                    self._fields[-1].append(element.text or "")
                else:
                    self._fields.append([element.text or ""])
            case "fldSimple":
                self._fields.append([element.get(f"{W}instr", "")])
                self._mark("field", f"simple{_locked(element)}")
                self._read_children(element)
            case "sdt":
                self._read_control(element)
            case "bookmarkStart" | "bookmarkEnd":
                self._read_bookmark(element)
            case _:
                self._read_foreign(element, tag)

    def _read_bookmark(self, element: etree._Element) -> None:
        id_ = element.get(f"{W}id", "")
        if element.tag == f"{W}bookmarkStart":
            if (name := element.get(f"{W}name", "")) != _CURSOR:
                self._bookmarks[id_] = name
                self._mark("bookmark", name)
        # One that began in another paragraph ends in no place that is told.
        elif id_ in self._bookmarks:
            self._mark("end", self._bookmarks[id_])

    def _read_foreign(self, element: etree._Element, tag: str) -> None:
        if tag in (f"{M}oMath", f"{M}oMathPara"):
            digest = self._drawn.digest(element)
            self._item(InlineObject("formula", self._length, linear_format(element), digest))
        elif tag == f"{MC}AlternateContent":
            for choice in [*element.findall(f"{MC}Choice"), *element.findall(f"{MC}Fallback")][:1]:
                self._read_children(choice)
        elif tag == f"{W}ruby":
            self._read_ruby(element)
        elif tag.endswith(("RangeStart", "RangeEnd")):
            # Of what was moved, or of controls that came and went, by tracked changes.
            self._mark("range", f"{local_name(element)} {element.get(f'{W}name', '')}")
        elif tag in (f"{W}bdo", f"{W}dir"):
            self._rest.append(element.get(VAL, "").encode())
            self._read_children(element)
        else:
            self._rest.append(self._drawn.digest(element, frozenset((SECTION,))))

    def _read_break(self, element: etree._Element) -> None:
        kind = element.get(f"{W}type", "")
        if kind in ("page", "column"):
            self._items.append(InlineObject(f"{kind} break", self._length, f"[{kind} break]", b""))
        else:
            if clear := element.get(f"{W}clear"):
                self._mark("sign", f"clear {clear}")
            self._add("\n")

    def _read_field_mark(self, element: etree._Element) -> None:
        kind = element.get(f"{W}fldCharType", "")
        if kind == "begin":
            self._fields.append([])
            form = element.find(f"{W}ffData")
            if form is not None:
                digest = self._drawn.digest(form)
                value = form_value(element)
                self._item(InlineObject("form field", self._length, value, digest))
        self._mark("field", f"{kind}{_locked(element)}")

    def _read_control(self, element: etree._Element) -> None:
        settings = element.find(f"{W}sdtPr")
        if settings is not None:
            digest = self._drawn.digest(settings, CONTROL_IDS)
            name = control_name(settings)
            self._marks.append(InlineMark("content control", self._length, name, digest))
        self._read_children(element)
        self._mark("end", "")

    def _read_ruby(self, element: etree._Element) -> None:
        base, above = element.find(f"{W}rubyBase"), element.find(f"{W}rt")
        settings = element.find(f"{W}rubyPr")
        self._mark("sign", "ruby" if settings is None else self._drawn.digest(settings).hex())
        if base is not None:
            self._read_children(base)
        if above is not None:
            self._add("(")
            self._read_children(above)
            self._add(")")

    def _mark(self, kind: str, key: str) -> None:
        self._marks.append(InlineMark(kind, self._length, key))

    def _add(self, text: str) -> None:
        if self._gone is not None:
            self._gone.append((text, self._look))
            return
        if not text:
            return
        # Where a run ends says nothing; programs divide them as they like.
        if self._pieces and (self._look, self._link) != self._current:
            self._end_run()
        self._current = (self._look, self._link)
        self._length += len(text)
        self._pieces.append(text)
        self._said.append(text)

    def _end_run(self) -> None:
        """Join the pieces that look alike; at once, for a run may have very many."""
        if self._pieces:
            self._runs.append(ParagraphRun("".join(self._pieces), *self._current))
            self._pieces = []


def control_name(settings: etree._Element) -> str:
    """Return what people know a content control by: its title, else its tag."""
    return value_of(settings, "alias") or value_of(settings, "tag")


def _author(element: etree._Element) -> str:
    return element.get(f"{W}author", "")


def _date(element: etree._Element) -> str:
    return element.get(f"{W}date", "")


def _locked(element: etree._Element) -> str:
    return " locked" if element.get(f"{W}fldLock", "0") not in OFF else ""


def _seen(look: Look) -> Look:
    """Return the formatting of what is no text: it is in no language."""
    return tuple(pair for pair in look if pair[0] != "language")


def _look_digest(pieces: Sequence[tuple[str, Look]]) -> bytes:
    """Return what is equal for texts that look alike, however they are divided; plain ones none."""
    looks = [
        ["".join(text for text, _ in run), look]
        for look, run in groupby(pieces, key=lambda piece: piece[1])
    ]
    plain = not any(look for _, look in looks)
    return b"" if plain else new_hash(msgspec.msgpack.encode(looks)).digest()
