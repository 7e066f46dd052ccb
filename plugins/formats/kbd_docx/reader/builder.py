"""Reader of a whole document in one pass, in linear time; what it finds is cached on its shelf.

The body is parsed piece by piece and each piece dropped when its text is taken, so that memory is
that of the text and not of the tree.

Headers and footers: which pages have which, and what stands in them.

Footnotes, endnotes and comments: the texts that are cited elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.shelves import keep, kept
from kbd.office.active_content import parts_of
from kbd.opc import Identity, read_transitional, suffix_mismatch
from kbd.opc.package import Package, Relation
from kbd_docx.comment_threads import THREADS_KIND, CommentState, comment_states
from kbd_docx.document import (
    FAMILY,
    PARAGRAPH,
    TABLE,
    R,
    W,
    body_children,
    is_on,
    open_document,
    parse_related,
    related,
)
from kbd_docx.reader.boxes import DocumentPages
from kbd_docx.reader.change_marks import MarkedParagraphs
from kbd_docx.reader.contents import (
    Changes,
    DocxChangeCount,
    DocxComment,
    DocxContents,
    DocxHeaderFooter,
    DocxTable,
    SectionBuilder,
    TextNotices,
)
from kbd_docx.reader.controls import ControlList
from kbd_docx.reader.direct_formatting import FormattingStretches
from kbd_docx.reader.drawings import Graphics
from kbd_docx.reader.findings import StoryFindings
from kbd_docx.reader.stories import StoryLine, StoryRenderer
from kbd_docx.reader.styles import ListLabels, StyleIndex
from kbd_docx.reader.unseen import UnseenText, paper_color
from kbd_docx.styles.theme import theme_of

__all__ = [
    "HeaderFooterReferences",
    "Notes",
    "parse_body",
    "read_contents",
    "read_headers_footers",
]

_KINDS = {f"{W}headerReference": "header", f"{W}footerReference": "footer"}
_TYPES = ("default", "first", "even")
_MAX_HEADERS_FOOTERS = 1_000


class HeaderFooterReferences:
    """References to headers and footers in one section's page layout.

    Args:
        element: The layout (`w:sectPr`).
    """

    def __init__(self, element: etree._Element) -> None:
        self.has_first = is_on(element.find(f"{W}titlePg"))
        self.named: list[tuple[str, str, str]] = []
        for child in element:
            kind = _KINDS.get(child.tag) if isinstance(child.tag, str) else None
            if kind:
                type_ = child.get(f"{W}type", "default")
                self.named.append((kind, type_ if type_ in _TYPES else "default",
                                   child.get(f"{R}id", "")))  # fmt: skip


def read_headers_footers(
    package: Package,
    relations: Mapping[str, Relation],
    references: Sequence[HeaderFooterReferences],
    findings: StoryFindings,
    *,
    has_even: bool,
) -> tuple[DocxHeaderFooter, ...]:
    """Return the headers and footers of all pages, each part once.

    Args:
        package: The file.
        relations: The relations of the main part by id.
        references: Of the stretches of pages, in order.
        findings: Where what they hold is found.
        has_even: Whether even pages have their own.
    """
    found: list[DocxHeaderFooter] = []
    seen: set[tuple[str, str]] = set()
    for place, reference in enumerate(references, 1):
        for kind, type_, key in reference.named:
            relation = relations.get(key)
            if (
                relation is None
                or (relation.target, type_) in seen
                or len(found) == _MAX_HEADERS_FOOTERS
            ):
                continue
            seen.add((relation.target, type_))
            root = parse_related(package, relation)
            if root is None:
                continue
            findings.begin_part(root)
            text = StoryRenderer(findings, related(package, relation.target)).text(root)
            is_shown = {"first": reference.has_first, "even": has_even}.get(type_, True)
            found.append(DocxHeaderFooter(kind, type_, place, text.strip("\n"), is_shown))
    return tuple(found)


_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
"""The relations that lead to the parts, by what is in them."""

_FORMS = {"footnote": "[^{}]", "endnote": "[^e{}]", "comment": "[comment {}]"}
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")
_NAME_CHARS = 100
_DAY_CHARS = 10
_COMMENT_CHARS = 1_000
_MAX_COMMENTS = 500
"""Comments that are listed; all are counted and read."""


class Notes:
    """The notes and comments of a document.

    Args:
        package: The file.
        relations: The relations of the main part.
        findings: Where what they hold is found.
    """

    def __init__(
        self, package: Package, relations: Iterable[Relation], findings: StoryFindings
    ) -> None:
        self._findings = findings
        self.comments: list[DocxComment] = []
        self._notes: dict[tuple[str, str], tuple[etree._Element, StoryRenderer]] = {}
        # Reversed, so that the first of several relations of a kind is the one that stays.
        by_kind = {relation.kind: relation for relation in reversed(tuple(relations))}
        for kind, name in _PARTS.items():
            root = parse_related(package, by_kind.get(name))
            if root is None:
                continue
            findings.begin_part(root)
            story = StoryRenderer(findings, related(package, by_kind[name].target))
            for element in root.iterchildren(f"{W}{kind}"):
                if element.get(f"{W}type") not in _SEPARATORS:
                    key = (kind, element.get(f"{W}id", ""))
                    self._notes.setdefault(key, (element, story))
        self._states = comment_states(
            parse_related(package, by_kind.get("comments")),
            parse_related(package, by_kind.get(THREADS_KIND)),
        )

    def count(self, kind: str) -> int:
        """Return how many there are of a kind."""
        return sum(1 for name, _ in self._notes if name == kind)

    def cited(self, paragraph: int = 0) -> list[str]:
        """Return the texts of what was cited since the last call, and of what they cite.

        Args:
            paragraph: The number of the paragraph that cites it, 0 if none does.
        """
        found = []
        waiting = self._findings.cited
        at = 0
        # The list grows meanwhile, since a note may cite others.
        while at < len(waiting):
            kind, key = waiting[at]
            at += 1
            found.append(self._text(kind, key, paragraph))
        waiting.clear()
        return found

    def uncited(self) -> Iterator[str]:
        """Yield the texts of what nothing cites."""
        for kind, key in self._notes:
            if key not in self._findings.numbers(kind):
                self._findings.cite(kind, key)
                yield from self.cited()

    def _text(self, kind: str, key: str, paragraph: int) -> str:
        number = self._findings.cite(kind, key)
        mark = _FORMS[kind].format(number)
        found = self._notes.get((kind, key))
        if found is None:
            return f"{mark}: (it has no text)"
        element, story = found
        text = story.text(element).strip()
        author = element.get(f"{W}author", "")[:_NAME_CHARS]
        date = element.get(f"{W}date", "")[:_NAME_CHARS]
        parts = [author, date[:_DAY_CHARS]]
        if kind == "comment":
            parts += self._comment_facts(key, number, (author, date), text, paragraph)
        byline = ", ".join(filter(None, parts))
        return f"{mark} {byline}: {text}" if byline else f"{mark}: {text}"

    def _comment_facts(
        self, key: str, number: int, told: tuple[str, str], text: str, paragraph: int
    ) -> Iterator[str]:
        """List a comment, and yield what its text does not say."""
        state = self._states.get(key, CommentState())
        words = self._findings.commented.get(key, "")
        above = self._findings.numbers("comment").get(state.reply_to, 0) if state.reply_to else 0
        if len(self.comments) < _MAX_COMMENTS:
            self.comments.append(
                DocxComment(
                    number, *told, text[:_COMMENT_CHARS], words, state.is_resolved, above, paragraph
                )
            )
        if above:
            yield f"reply to {above}"
        elif words:
            yield f'on "{words}"'
        if state.is_resolved:
            yield "resolved"


_BODY = f"{W}body"
_BLOCKS = (PARAGRAPH, TABLE)
_LAYOUT = f"{W}sectPr"
_FEED_BYTES = 1 << 16
_EMBEDDED = ("oleObject", "package", "control")
_LINK = "hyperlink"
_HEADING_CHARS = 300
_MARK = re.compile(r"\[(\^e?\d+|comment \d+|page break|column break)\]")
_BREAKS = {
    "continuous": "[section break, same page]",
    "nextColumn": "[section break, next column]",
}

_AROUND = ("header", "footer")
_SHELF_RECORD = "document.5"
"""The name on the shelf, with the version of what is in it."""


def read_contents(source: Source) -> DocxContents:
    """Read the contents of a document, from its shelf if they lie there.

    Raises:
        FileReadFailed: It is no document, is encrypted or damaged, or past a limit.
    """
    found = kept(source.shelf, _SHELF_RECORD, DocxContents)
    if found is not None:
        return found
    with open_document(source) as (package, identity):
        try:
            found = _DocumentReader(package, identity).document()
        except MemoryError as error:
            raise FileReadFailed(
                f"{source.name} holds more than fits into the memory that reading a file may take"
            ) from error
        except RecursionError as error:
            raise FileReadFailed(f"{source.name} is nested too deeply to be read") from error
    keep(source.shelf, _SHELF_RECORD, found)
    return found


class _DocumentReader:
    """Reader of one document, in a single pass."""

    def __init__(self, package: Package, identity: Identity) -> None:
        self._package = package
        self._identity = identity
        relations = package.relations(identity.part)
        self._relations = {relation.id: relation for relation in relations}
        by_kind = {relation.kind: relation for relation in reversed(relations)}
        self._data = read_transitional(package, identity.part)
        root = parse_related(package, by_kind.get("styles"))
        styles = StyleIndex(root)
        lists = ListLabels(
            parse_related(package, by_kind.get("numbering")), lambda key: styles.style(key).list_id
        )
        settings = parse_related(package, by_kind.get("settings"))
        theme_root = parse_related(package, by_kind.get("theme"))
        theme = theme_of(theme_root, settings)
        unseen = UnseenText(
            root,
            theme,
            paper_color(self._data, settings, theme),
            page=DocumentPages(self._data, self._headers_footers),
            theme_root=theme_root,
        )
        # One search in the bytes spares a look at the properties of every run.
        may_hide = unseen.may_hide(self._data)
        self._findings = StoryFindings(styles, lists, Graphics(package), unseen, may_hide=may_hide)
        self._notes = Notes(package, relations, self._findings)
        self._story = StoryRenderer(self._findings, self._relations)
        self._settings = by_kind.get("settings")
        self._sections = SectionBuilder()
        self._tables: list[DocxTable] = []
        self._header_references: list[HeaderFooterReferences] = []
        self._count = 0
        self._placed = 0
        self._changes = TextNotices()
        self._formatting = FormattingStretches()
        self._controls = ControlList()
        self._marked = MarkedParagraphs()
        # One search in the bytes spares a look into every block.
        self._may_have_changes = b"author" in self._data

    def document(self) -> DocxContents:
        """Read the document and return its contents."""
        # One search in the bytes spares a look into every child.
        may_have_controls = b"sdt" in self._data
        for child in parse_body(self._data, self._package.name):
            if may_have_controls:
                self._controls.add(child, self._count)
            # Most children are blocks themselves, and need no look into them.
            for element in (child,) if child.tag in _BLOCKS else body_children([child]):
                self._add_block(element)
        sections = self._sections.sections()
        changes, change_counts = tuple(self._findings.changes), tuple(self._change_counts())
        # Taken now: pictures in headers, and in notes that nothing cites, are in no section.
        pictures = tuple(self._findings.pictures)
        uncited = tuple(self._notes.uncited())
        found = self._findings
        footnotes, endnotes = len(found.numbers("footnote")), len(found.numbers("endnote"))
        headers_footers = read_headers_footers(
            self._package,
            self._relations,
            self._header_references,
            found,
            has_even=self._has_even(),
        )
        around = found.take_notices()
        links, embedded = self._scan_relations()
        changed = self._changes
        return DocxContents(
            sections=sections,
            tables=tuple(self._tables),
            pictures=pictures,
            headers_footers=headers_footers,
            paragraph_count=self._count,
            page_sections=max(1, len(self._header_references)),
            footnotes=footnotes,
            endnotes=endnotes,
            comments=self._notes.count("comment"),
            changes=Changes(
                changed.insertions, changed.deletions, tuple(filter(None, found.authors))
            ),
            external=tuple(found.external),
            links=links,
            embedded=embedded,
            has_macros=self._identity.has_macros,
            uncited=uncited,
            hidden_around=around is not None and around.hidden > 0,
            doubtful_around=around is not None and around.doubtful > 0,
            doubt=suffix_mismatch(self._identity, FAMILY, self._package.name),
            comment_list=tuple(self._notes.comments),
            change_list=changes,
            formatting=self._formatting.found(),
            controls=tuple(self._controls.found),
            marked=tuple(self._marked.found),
            change_counts=change_counts,
        )

    def _change_counts(self) -> Iterator[DocxChangeCount]:
        """Yield how many changes of the body each author has made."""
        inserted, deleted = self._findings.inserted, self._findings.deleted
        looks = self._marked.looks
        for author in dict.fromkeys((*self._findings.authors, *looks)):
            yield DocxChangeCount(author, inserted[author], deleted[author], looks[author])

    def _headers_footers(self) -> Iterator[bytes]:
        """Yield the headers and footers that can be read."""
        for relation in self._relations.values():
            if relation.kind in _AROUND and not relation.external:
                with suppress(FileReadFailed):
                    yield read_transitional(self._package, relation.target)

    def _add_block(self, element: etree._Element) -> None:
        """Add one block of the body."""
        if self._may_have_changes:
            self._marked.add(self._count + (element.tag == PARAGRAPH), element)
        if element.tag == PARAGRAPH:
            self._count += 1
            self._formatting.add(self._count, element)
            self._add_paragraph(self._story.paragraph(element))
        elif element.tag == TABLE:
            index = len(self._tables)
            grid = self._story.table(element)
            self._tables.append(grid.record(self._count))
            name = f"table {index}"
            lines = [f"[{name}: {grid.row_count} rows, {grid.column_count} columns]", *grid.lines]
            lines += [f"[end of {name}]"] if grid.is_open else []
            self._add("\n".join(lines), 0, name)
        elif element.tag == _LAYOUT:
            self._header_references.append(HeaderFooterReferences(element))
        elif other := self._story.other_text(element):
            self._add(other, 0)

    def _add_paragraph(self, line: StoryLine) -> None:
        text = line.text
        if not line.level and line.layout is None and not self._findings.has_new:
            self._sections.add_plain(text, self._count)
            return
        if line.level and text:
            # Marks that reading has put in are no part of the name by which a section is found.
            heading = " ".join(_MARK.sub("", text).split())[:_HEADING_CHARS]
            if heading:
                self._sections.begin_section(heading, line.label, line.level)
            text = f"{'#' * line.level} {line.labeled}" if heading else text
        if line.layout is not None:
            self._header_references.append(HeaderFooterReferences(line.layout))
            kind = line.layout.find(f"{W}type")
            break_type = "" if kind is None else kind.get(f"{W}val", "")
            text = f"{text}\n{_BREAKS.get(break_type, '[section break]')}".strip("\n")
        self._add(text, self._count)

    def _add(self, text: str, paragraph: int, table: str = "") -> None:
        found = self._findings
        notes = self._notes.cited(self._count) if found.cited else ()
        for change in found.changes[self._placed :]:
            change.paragraph = self._count
        self._placed = len(found.changes)
        notices = found.take_notices()
        if notices is not None:
            self._changes.insertions += notices.insertions
            self._changes.deletions += notices.deletions
        counts = (len(self._tables), len(found.pictures))
        self._sections.add(text, paragraph, counts, table=table, notes=notes, notices=notices)

    def _has_even(self) -> bool:
        root = parse_related(self._package, self._settings)
        return root is not None and is_on(root.find(f"{W}evenAndOddHeaders"))

    def _scan_relations(self) -> tuple[int, int]:
        """Scan relations for external targets; return the numbers of links and embedded files."""
        links = embedded = 0
        for part in parts_of(self._package):
            for relation in related(self._package, part).values():
                if relation.external and relation.kind == _LINK:
                    links += 1
                elif relation.external:
                    self._findings.add_external(relation.kind, relation.target)
                elif relation.kind in _EMBEDDED:
                    embedded += 1
        return links, embedded


def parse_body(data: bytes, name: str) -> Iterator[etree._Element]:
    """Yield the children of the body, in order; each is freed when the next is asked for.

    Args:
        data: The main part.
        name: The file's name, for messages.

    Raises:
        FileReadFailed: There is no body.
        lxml.etree.LxmlError: It is no valid XML.
    """
    # Fed in pieces, so that memory is that of the text and not of the tree. No entity is resolved
    # and no DTD is loaded: they could name other files.
    parser = etree.XMLPullParser(
        events=("start",), tag=_BODY, resolve_entities=False, no_network=True, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    body: etree._Element | None = None
    for start in range(0, len(data), _FEED_BYTES):
        parser.feed(data[start : start + _FEED_BYTES])
        if body is None:
            for _, found in parser.read_events():
                body = _element(found) if body is None else body
        if body is not None:
            # The last one may not be whole yet.
            yield from _drain(body, least=1)
    parser.close()
    if body is None:
        raise FileReadFailed(f"{name} is damaged: its main part holds no body")
    yield from _drain(body, least=0)


def _element(found: object) -> etree._Element:
    """Return what a start event is about; namespaces have events of another shape."""
    assert isinstance(found, etree._Element)  # noqa: SLF001 - its only name
    return found


def _drain(body: etree._Element, *, least: int) -> Iterator[etree._Element]:
    child = next(iter(body), None)
    while child is not None:
        following = child.getnext()
        if following is None and least:
            return
        yield child
        # Emptied first: to remove an element costs the square of what is in it.
        child.clear()
        body.remove(child)
        child = following
