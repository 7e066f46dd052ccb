"""One version of a document, opened for a comparison: its body by blocks, and what explains it."""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Identity, read_transitional
from kbd.opc.package import Package
from kbd_docx.comment_threads import THREADS_KIND, comment_states
from kbd_docx.comparison.body import BodyBlock, BodyBlocks, read_body
from kbd_docx.comparison.contents import ParagraphContent
from kbd_docx.comparison.digests import CONTROL_IDS, PartDigests
from kbd_docx.comparison.drawn import DrawnReader
from kbd_docx.comparison.looks import Looks
from kbd_docx.comparison.paragraphs import ParagraphReader
from kbd_docx.comparison.places import DocxPlaces
from kbd_docx.document import PARAGRAPH, DocxParts, W, open_document
from kbd_docx.reader.builder import read_contents
from kbd_docx.styles.stylesheet import DocxStyleSheet, ListDefinitions, read_lists
from kbd_docx.styles.theme import DocxTheme, read_document_theme

__all__ = ["DocxVersion", "Note", "open_version", "word_count"]

NOTE_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
_NOT_FRAME = frozenset((PARAGRAPH, *CONTROL_IDS))
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")


class Note(msgspec.Struct, frozen=True):
    """A footnote, an endnote or a comment.

    Args:
        kind: Which of them.
        number: Its number in the order of citing, from 1; of what nothing cites after all others.
        paragraphs: What it says.
        author: Of a comment, who wrote it.
        date: Of a comment, when.
        frame: The digest of what holds the paragraphs: tables, content controls.
        is_resolved: Of a comment, whether it is done with.
        reply_to: Of a comment that is a reply, the text of what it replies to.
    """

    kind: str
    number: int
    paragraphs: tuple[ParagraphContent, ...]
    author: str
    date: str
    frame: bytes
    is_resolved: bool = False
    reply_to: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.kind} {self.number}"

    @property
    def text(self) -> str:
        """What it says, as text."""
        return "\n".join(each.shown for each in self.paragraphs).strip()


class DocxVersion:
    """A version of a document.

    Args:
        source: The file.
        package: The same, open.
        identity: What kind of package it is.
    """

    def __init__(self, source: Source, package: Package, identity: Identity) -> None:
        self.name, self.package, self.identity = source.name, package, identity
        self.main = identity.part
        self.contents = read_contents(source)
        self.places = DocxPlaces(source.name, self.contents)
        self.parts = PartDigests(package)
        self.document = DocxParts(package, identity.part)
        self.sheet = DocxStyleSheet(self.document.part_root("styles"), _theme(self.document))
        self.lists: ListDefinitions = read_lists(self.document)
        self.looks = Looks(self.sheet, self.lists)
        self.body: BodyBlocks = read_body(
            read_transitional(package, self.main), self.name, self.main, self.parts
        )
        self._note_elements = dict(self._find_notes())
        self.note_texts = {
            key: "".join(each.text or "" for each in element.iter(f"{W}t"))
            for key, (element, _) in self._note_elements.items()
        }
        self._states = comment_states(*map(self._read_root, ("comments", THREADS_KIND)))
        self._readers: dict[str, ParagraphReader] = {}
        self._paragraphs: dict[int, ParagraphContent] = {}
        self._keys: dict[int, bytes] = {}

    def reader(self, part: str) -> ParagraphReader:
        """Return the reader of the paragraphs of a part."""
        if part not in self._readers:
            drawn = DrawnReader(self.parts, part)
            self._readers[part] = ParagraphReader(self.looks, drawn, self.note_texts)
        return self._readers[part]

    def block(self, index: int) -> BodyBlock:
        """Return a block of the body by its index among all."""
        return self.body.blocks[index]

    def element(self, index: int) -> etree._Element:
        """Return the element of a block."""
        return self.body.element(self.block(index))

    def paragraph(self, index: int) -> ParagraphContent:
        """Return what the paragraph that is a block holds."""
        found = self._paragraphs.get(index)
        if found is None:
            element = self.element(index)
            found = self._paragraphs[index] = self.reader(self.main).paragraph(element)
        return found

    def key(self, index: int) -> bytes:
        """Return what is equal for blocks of equal contents."""
        found = self._keys.get(index)
        if found is None:
            if self.block(index).kind == "paragraph":
                found = self.paragraph(index).key
            else:
                found = self.parts.element(self.element(index), self.main)
            self._keys[index] = found
        return found

    def move_key(self, index: int) -> bytes | None:
        """Return by what a block is known elsewhere: a paragraph by its text, others by all."""
        if self.block(index).kind != "paragraph":
            return self.key(index)
        content = self.paragraph(index)
        return content.shown.strip().encode("utf-8", "surrogatepass") or None

    def words(self, index: int) -> Counter[str] | None:
        """Return the words of a block, by which its likeness is judged."""
        kind = self.block(index).kind
        if kind == "other":
            return None
        if kind == "paragraph":
            return word_count(self.paragraph(index).shown)
        found = word_count(" ".join(each.text or "" for each in self.element(index).iter(f"{W}t")))
        # A table is never a paragraph, whatever both say.
        return Counter({f"\0{word}": count for word, count in found.items()})

    def shape(self, index: int) -> tuple[int, int] | None:
        """Return the numbers of a table's rows and columns, None of other blocks."""
        block = self.block(index)
        if block.kind != "table" or block.number >= len(self.contents.tables):
            return None
        table = self.contents.tables[block.number]
        return table.row_count, table.column_count

    def traits(self, index: int) -> frozenset[Hashable]:
        """Return what a table may have in common with another that says something else.

        It is how many rows and columns it has; and its first row, for those below it come and go.
        """
        shape = self.shape(index)
        if shape is None:
            return frozenset()
        rows = msgspec.msgpack.decode(self.contents.tables[self.block(index).number].cells)
        first = tuple(rows[0]) if rows else ()
        return frozenset((shape, first))

    def frame(self, element: etree._Element, part: str) -> bytes:
        """Return the digest of what holds paragraphs, without these; nothing if nothing else is."""
        if not isinstance(element.tag, str) or element.tag == PARAGRAPH:
            return b""
        return self.parts.element(element, part, _NOT_FRAME)

    def notes(self, kind: str) -> list[Note]:
        """Return the notes or comments of a kind in the order of citing."""
        cited = dict.fromkeys(id_ for name, id_ in self.body.cited if name == kind)
        every = [id_ for name, id_ in self._note_elements if name == kind]
        order = [id_ for id_ in cited if (kind, id_) in self._note_elements]
        found = []
        for number, id_ in enumerate([*order, *(each for each in every if each not in cited)], 1):
            element, part = self._note_elements[kind, id_]
            found.append(
                Note(
                    kind, number, tuple(self.reader(part).paragraphs(element)),
                    element.get(f"{W}author", ""), element.get(f"{W}date", ""),
                    # Its id is counted anew, and the rest of its own attributes are told.
                    b"".join(self.frame(child, part) for child in element),
                    *self._thread(id_ if kind == "comment" else ""),
                )
            )  # fmt: skip
        return found

    def separators(self, kind: str) -> dict[str, bytes]:
        """Return the digests of the lines that a program draws above notes, by their types."""
        part = self.document.part(NOTE_PARTS[kind])
        root = self._read_root(NOTE_PARTS[kind])
        return {
            element.get(f"{W}type", ""): b"".join(
                self.parts.element(child, part) for child in element
            )
            for element in (root.iterchildren(f"{W}{kind}") if root is not None else ())
            if element.get(f"{W}type") in _SEPARATORS
        }

    def _read_root(self, kind: str) -> etree._Element | None:
        """Return the root of the part of a kind, None if there is none or it holds nothing."""
        part = self.document.part(kind)
        return self.document.root(part) if part and self.parts.package.read(part).strip() else None

    def _thread(self, id_: str) -> tuple[bool, str]:
        """Return whether a comment is resolved, and the text of what it replies to."""
        state = self._states.get(id_)
        if state is None:
            return False, ""
        above = self.note_texts.get(("comment", state.reply_to), "") if state.reply_to else ""
        return state.is_resolved, above

    def _find_notes(self) -> Iterator[tuple[tuple[str, str], tuple[etree._Element, str]]]:
        for kind, name in NOTE_PARTS.items():
            part = self.document.part(name)
            root = self._read_root(name)
            for element in root.iterchildren(f"{W}{kind}") if root is not None else ():
                if element.get(f"{W}type") not in _SEPARATORS:
                    yield (kind, element.get(f"{W}id", "")), (element, part)


@contextmanager
def open_version(source: Source) -> Iterator[DocxVersion]:
    """Open a version of a document.

    Raises:
        FileReadFailed: It is no document, is encrypted or damaged, or past a limit.
    """
    with open_document(source) as (package, identity):
        try:
            yield DocxVersion(source, package, identity)
        except MemoryError as error:
            raise FileReadFailed(
                f"{source.name} holds more than fits into the memory that comparing may take"
            ) from error
        except RecursionError as error:
            raise FileReadFailed(f"{source.name} is nested too deeply to be compared") from error


def word_count(text: str) -> Counter[str]:
    """Return the words of a text with their counts."""
    return Counter(text.casefold().split())


def _theme(document: DocxParts) -> DocxTheme:
    try:
        return read_document_theme(document)
    except FileReadFailed:
        # Programs open documents whose theme is damaged; references to it then mean nothing.
        return DocxTheme()
