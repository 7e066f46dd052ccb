"""Replacement of text in all of a document: body, headers, footers, notes, and the boxes in them.

A paragraph is searched as the text that people see in it: that goes over runs, links, content
controls and inserted text alike. What is no text ends it: a picture in the line, an equation, a
page break. What people do not see in the line does not: notes' marks, anchors of floating pictures,
comments, deleted text. Of a field only its result is text, not its instruction; fields go on over
paragraphs, so that each begins in the state where the one before ended.

Texts are read once and kept while only replacements change them, so that each of many replacements
costs a search through strings. Each hit is replaced once, in the run where it begins.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import Part, XmlPart
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.opc.rewriter import xml_bytes
from kbd_docx.document import MC, PARAGRAPH, WP, M, W
from kbd_docx.edits.library_parts import LibraryParts
from kbd_docx.edits.texts import T, clean_text, set_text, text_node, text_nodes
from kbd_docx.operations import ReplaceText
from kbd_docx.revisions.tracker import tracking_of

__all__ = [
    "BARRIER",
    "Field",
    "FieldState",
    "Filling",
    "FlowPiece",
    "RunFlow",
    "Stories",
    "computing_field",
    "find_matches",
    "fold_case",
    "pieces_with_matches",
    "read_flow",
    "replace_matches",
    "write_replacement",
]


BARRIER = "\0"
"""What stands for what is no text; no document can hold it."""

_MAX_NESTED = 100
"""Fields within each other; programs stop at twenty."""

_INSTRUCTION_CHARACTERS = 40
"""Of a field's instruction: enough for its first word."""

_STEADY_FIELDS = frozenset(("HYPERLINK", "FORMTEXT"))
"""Fields whose results programs do not compute."""

_LINE_ENDS = str.maketrans("\t\n\r", "   ")

_WRAPPERS = frozenset(
    f"{W}{name}"
    for name in (
        "bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "r", "rubyBase",
        "sdt", "sdtContent", "smartTag", "ruby",
    )
)  # fmt: skip
_SIGNS = {
    f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-",
    f"{W}softHyphen": "",
}  # fmt: skip
_BARRIERS = frozenset(
    (
        f"{W}sym", f"{W}object", f"{W}drawing", f"{W}pict", f"{W}pgNum", f"{W}contentPart",
        f"{MC}AlternateContent", f"{M}oMath", f"{M}oMathPara",
    )
)  # fmt: skip
_BREAK, _FIELD, _INSTRUCTION, _SIMPLE_FIELD = (
    f"{W}br", f"{W}fldChar", f"{W}instrText", f"{W}fldSimple"
)  # fmt: skip

_LEAVES = frozenset((T, _FIELD, _INSTRUCTION, *_SIGNS))


class Field(msgspec.Struct, frozen=True):
    """A field that has begun: how its instruction begins, and whether that is over."""

    instruction: str = ""
    has_result: bool = False


FieldState = tuple[Field, ...]
"""The fields that have begun and not ended, the outermost first."""


class FlowPiece(msgspec.Struct, frozen=True):
    """One element of a flow: the text that it gives, where that begins, and the fields around."""

    element: etree._Element
    start: int
    text: str
    state: FieldState


class Filling(msgspec.Struct, frozen=True):
    """What a stretch of a text is replaced by."""

    start: int
    end: int
    text: str


class RunFlow(msgspec.Struct):
    """A paragraph, its text, and the state of fields where it begins."""

    paragraph: etree._Element
    text: str
    state: FieldState


def read_flow(
    paragraph: etree._Element, state: FieldState
) -> tuple[str, list[FlowPiece], FieldState]:
    """Return a paragraph's text, the pieces that it is made of, and the state in which it ends."""
    texts: list[str] = []
    pieces: list[FlowPiece] = []
    length = 0
    for element in _leaves(paragraph):
        tag = element.tag
        if tag == _FIELD:
            state = _after_mark(element, state)
        elif tag == _INSTRUCTION:
            state = _after_instruction(element, state)
        elif not state or all(field.has_result for field in state):
            # The result of a field within an instruction is part of the instruction, and no text.
            text = _text(element)
            pieces.append(FlowPiece(element, length, text, state))
            texts.append(text)
            length += len(text)
    return "".join(texts), pieces, state


def _leaves(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Yield what gives text, ends text or belongs to a field, in order."""
    pending = [iter(paragraph)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
            continue
        tag = child.tag
        if tag in _WRAPPERS:
            pending.append(iter(child))
        elif tag in _LEAVES or (tag in _BARRIERS and not _is_floating(child)):
            yield child


def _text(element: etree._Element) -> str:
    """Return the text that an element gives."""
    tag = element.tag
    if tag == T:
        # Line ends inside the XML are blanks to programs.
        return (element.text or "").translate(_LINE_ENDS)
    if tag == _BREAK and element.get(f"{W}type", "textWrapping") != "textWrapping":
        return BARRIER
    return _SIGNS.get(tag, BARRIER)


def _is_floating(element: etree._Element) -> bool:
    """Tell whether a drawing has its place apart from the line."""
    if element.tag in (f"{W}drawing", f"{MC}AlternateContent"):
        return next(element.iter(f"{WP}anchor"), None) is not None
    if element.tag == f"{W}pict":
        return any(
            "position:absolute" in (each.get("style") or "").replace(" ", "")
            for each in element.iterchildren()
        )
    return False


def _after_mark(element: etree._Element, state: FieldState) -> FieldState:
    """Return the state behind a field's sign."""
    kind = element.get(f"{W}fldCharType")
    if kind == "begin":
        if len(state) >= _MAX_NESTED:
            raise ValidationFailed("the document's fields begin within each other without end")
        return (*state, Field())
    if not state:
        return state
    if kind == "separate":
        return (*state[:-1], Field(state[-1].instruction, has_result=True))
    return state[:-1] if kind == "end" else state


def _after_instruction(element: etree._Element, state: FieldState) -> FieldState:
    """Return the state behind a piece of a field's instruction."""
    if not state or state[-1].has_result or len(state[-1].instruction) > _INSTRUCTION_CHARACTERS:
        return state
    return (*state[:-1], Field(state[-1].instruction + (element.text or "")))


def computing_field(piece: FlowPiece) -> str:
    """Return the first word of a field that computes what a piece shows, "" if none does."""
    instructions = [field.instruction for field in piece.state]
    for ancestor in piece.element.iterancestors():
        if ancestor.tag == PARAGRAPH:
            break
        if ancestor.tag == _SIMPLE_FIELD:
            instructions.append(ancestor.get(f"{W}instr") or "")
    firsts = [instruction.split(maxsplit=1)[:1] for instruction in instructions]
    words = [word.upper()[:_INSTRUCTION_CHARACTERS] for first in firsts for word in first]
    return next((word for word in words if word not in _STEADY_FIELDS), "")


Match = tuple[int, int]
"""Where what was found begins and ends."""


def fold_case(text: str) -> str:
    """Fold the case of a text character by character, so that offsets in it stay."""
    if text.isascii():
        return text.lower()
    whole = text.casefold()
    # Folding never shortens, so with the same length each character has become one.
    if len(whole) == len(text):
        return whole
    return "".join(_fold_character(sign) for sign in text)


def _fold_character(sign: str) -> str:
    found = sign.casefold()
    return found if len(found) == 1 else sign


def find_matches(text: str, search: str) -> Iterator[Match]:
    """Yield the matches of a text in another one, from the left, without overlaps."""
    start = text.find(search)
    while start >= 0:
        end = start + len(search)
        yield start, end
        start = text.find(search, end)


def replace_matches(text: str, found: Sequence[Match], replacement: str) -> str:
    """Return a text with its matches replaced."""
    copied_to = 0
    parts = []
    for start, end in found:
        parts += [text[copied_to:start], replacement]
        copied_to = end
    return "".join((*parts, text[copied_to:]))


def pieces_with_matches(
    pieces: Sequence[FlowPiece], found: Sequence[Match]
) -> list[tuple[FlowPiece, Sequence[Match]]]:
    """Return the pieces that matches lie in, each with its matches."""
    touching = []
    first = 0
    for piece in pieces:
        start, end = piece.start, piece.start + len(piece.text)
        while first < len(found) and found[first][1] <= start:
            first += 1
        last = first
        # Where there is no text, such as a soft hyphen, a hit may lie around it.
        while last < len(found) and found[last][0] < max(start, end):
            last += 1
        if last > first:
            touching.append((piece, found[first:last]))
    return touching


def write_replacement(piece: FlowPiece, over: Sequence[Match], replacement: str) -> None:
    """Rewrite a piece: its remaining text, with replacements of the matches that begin in it.

    What is left of a hit in later pieces goes; an element that nothing is left of is taken out,
    runs stay.
    """
    # As the file has it; `_text` has put one character for one, so that places are the same.
    text = piece.element.text or "" if piece.element.tag == T else piece.text
    copied_to = 0
    parts: list[tuple[str, bool]] = []
    for start, end in over:
        parts.append((text[copied_to : max(start - piece.start, 0)], False))
        # For a match that began in an earlier piece the replacement stands there.
        if start >= piece.start:
            parts.append((replacement, True))
        copied_to = end - piece.start
    parts.append((text[copied_to:], False))
    _replace_element(piece.element, [part for part in parts if part[0]])


def _replace_element(element: etree._Element, parts: Sequence[tuple[str, bool]]) -> None:
    """Replace an element by texts; breaks and tabs of new ones become elements."""
    nodes: list[etree._Element] = []
    for text, is_new in parts:
        made = list(text_nodes(text)) if is_new else [text_node(text)]
        if nodes and made and nodes[-1].tag == made[0].tag == T:
            set_text(nodes[-1], (nodes[-1].text or "") + (made.pop(0).text or ""))
        nodes += made
    if element.tag == T and len(nodes) == 1 and nodes[0].tag == T:
        set_text(element, nodes[0].text or "")
        return
    for node in nodes:
        element.addprevious(node)
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


MAX_GROWTH_CHARACTERS = 20_000_000
"""How much longer one replacement may make a document, far beyond what a program opens."""

_STORIES = frozenset((RT.HEADER, RT.FOOTER, RT.FOOTNOTES, RT.ENDNOTES))
_FIELD_SCOPES = frozenset((f"{W}txbxContent", f"{W}footnote", f"{W}endnote"))
"""What has fields of its own, apart from those around it."""

_BRANCHES = frozenset((f"{MC}Choice", f"{MC}Fallback"))


class DocxStory(msgspec.Struct):
    """A part that holds text: its tree, and its paragraphs as texts.

    `part` is what must be given the tree's bytes again, None where the library does it.
    """

    root: etree._Element
    part: Part | None = None
    flows: list[RunFlow] | None = None
    folded: dict[int, str] = msgspec.field(default_factory=dict)


class Stories:
    """The texts of one document.

    Args:
        document: The document.
        warnings: Gets what the reader must know.
        parts: Its parts.

    Attributes:
        replaced: The texts that were replaced.
    """

    def __init__(self, document: Document, warnings: EditWarnings, parts: LibraryParts) -> None:
        self._document, self._warnings, self._parts = document, warnings, parts
        self.replaced: set[str] = set()
        self._stories: list[DocxStory] | None = None
        self._others: list[tuple[str, DocxStory]] | None = None

    def forget_body(self) -> None:
        """Invalidate the texts of the body: it was changed."""
        if self._stories is not None:
            # `_stories` yields the body first.
            self._stories[0].flows = None
            self._stories[0].folded.clear()

    def forget_all(self) -> None:
        """Invalidate all texts: other parts than the body were changed."""
        self._stories = None

    def forget(self, roots: Sequence[etree._Element]) -> None:
        """Invalidate the texts of some trees, which were changed."""
        for story in self._loaded():
            if story.root in roots:
                story.flows = None
                story.folded.clear()
                _store(story)

    def roots(self) -> list[etree._Element]:
        """Return the roots of all trees, the body's first; always the same objects."""
        return [story.root for story in self._loaded()]

    def replace(self, operation: ReplaceText) -> str:
        """Replace a text everywhere and return how often.

        Raises:
            ValidationFailed: There is nothing to search for, or the result would be too long.
        """
        search = clean_text(operation.search, self._warnings.warn)
        replacement = clean_text(operation.replace, self._warnings.warn)
        if not search:
            raise ValidationFailed("replace_text needs a text to search for")
        computed: Counter[str] = Counter()
        count = 0
        for story in self._loaded():
            count += self._replace_in(story, search, replacement, operation, computed)
        self._warn_of_computed(computed)
        if not count:
            self._warn_not_found(search)
        elif search not in replacement and tracking_of(operation) is None:
            self.replaced.add(search)
        self._warn_of_others(search, match_case=operation.match_case)
        return f"{count} replacement{'' if count == 1 else 's'}"

    def fill(
        self,
        fillings: Callable[[etree._Element, str, Sequence[FlowPiece]], Sequence[Filling]],
    ) -> int:
        """Replace stretches of paragraphs everywhere, and return how many people see.

        Args:
            fillings: Takes a paragraph, its text and the pieces of that; returns what to replace,
                from the left, without overlaps.
        """
        computed: Counter[str] = Counter()
        count = 0
        for story in self._loaded():
            if story.flows is None:
                story.flows = list(_flows(story.root))
            changed: list[tuple[RunFlow, int]] = []
            for flow in story.flows:
                _, pieces, _ = read_flow(flow.paragraph, flow.state)
                wanted = fillings(flow.paragraph, flow.text, pieces)
                for filling in reversed(wanted):
                    match = filling.start, filling.end
                    # Read anew: what was filled behind may have taken out elements.
                    _, pieces, _ = read_flow(flow.paragraph, flow.state)
                    for piece, over in pieces_with_matches(pieces, [match]):
                        computed.update(filter(None, [computing_field(piece)]))
                        self._clear_placeholders(piece)
                        write_replacement(piece, over, filling.text)
                    flow.text = replace_matches(flow.text, [match], filling.text)
                if wanted:
                    changed.append((flow, len(wanted)))
            if changed:
                story.folded.clear()
                _store(story)
            count += _counted(changed)
        self._warn_of_computed(computed)
        return count

    def _warn_of_computed(self, computed: Counter[str]) -> None:
        if computed:
            self._warnings.warn(
                f"Text was replaced in results of fields ({listed(sorted(computed))}), which "
                "programs may compute anew."
            )

    def _loaded(self) -> list[DocxStory]:
        if self._stories is None:
            self._stories = list(_stories(self._document, self._parts))
        return self._stories

    def _warn_of_others(self, search: str, *, match_case: bool) -> None:
        """Warn where a text stands that is not replaced: in comments, in building blocks."""
        if self._others is None:
            self._others = list(_other_stories(self._document, self._parts))
        wanted = search if match_case else fold_case(search)
        for name, story in self._others:
            if story.flows is None:
                story.flows = list(_flows(story.root))
            texts = (each.text if match_case else fold_case(each.text) for each in story.flows)
            count = sum(text.count(wanted) for text in texts)
            if count:
                self._warnings.warn(
                    f"{search!r} stands in {name}, too ({count}), which replace_text leaves alone."
                )

    def _warn_not_found(self, search: str) -> None:
        more = " A search does not go over the end of a paragraph." if "\n" in search else ""
        self._warnings.warn(f"{search!r} was not found; nothing was replaced.{more}")

    def _replace_in(
        self,
        story: DocxStory,
        search: str,
        replacement: str,
        operation: ReplaceText,
        computed: Counter[str],
    ) -> int:
        if story.flows is None:
            story.flows = list(_flows(story.root))
        wanted = search if operation.match_case else fold_case(search)
        changed: list[tuple[RunFlow, int]] = []
        growth = 0
        for place, flow in enumerate(story.flows):
            text = flow.text
            if not operation.match_case:
                text = story.folded.get(place) or fold_case(flow.text)
                story.folded[place] = text
            if wanted not in text:
                continue
            found = list(find_matches(text, wanted))
            growth += len(found) * (len(replacement) - len(search))
            if growth > MAX_GROWTH_CHARACTERS:
                msg = f"this would make the document {growth} characters longer"
                raise ValidationFailed(msg)
            # Read anew: an earlier replacement may have taken out elements of the former pieces.
            _, pieces, _ = read_flow(flow.paragraph, flow.state)
            for piece, over in pieces_with_matches(pieces, found):
                computed.update(filter(None, [computing_field(piece)]))
                self._clear_placeholders(piece)
                write_replacement(piece, over, replacement)
            flow.text = replace_matches(flow.text, found, replacement)
            story.folded.pop(place, None)
            changed.append((flow, len(found)))
        if changed:
            _store(story)
        return _counted(changed)

    def _clear_placeholders(self, piece: FlowPiece) -> None:
        """Mark the content of a content control as content, no longer a placeholder."""
        for control in piece.element.iterancestors(f"{W}sdt"):
            properties = control.find(f"{W}sdtPr")
            if properties is None:
                continue
            for placeholder in properties.findall(f"{W}showingPlcHdr"):
                properties.remove(placeholder)
            if properties.find(f"{W}dataBinding") is not None:
                self._warnings.warn(
                    "Text was replaced in a content control that shows data kept elsewhere in the "
                    "file; programs may show that data again."
                )


def _store(story: DocxStory) -> None:
    """Give the library the bytes of a tree that it has as bytes."""
    if story.part is not None:
        story.part._blob = xml_bytes(story.root)  # noqa: SLF001 - notes are bytes to the library


def _stories(document: Document, parts: LibraryParts) -> Iterator[DocxStory]:
    """Yield the body, then headers, footers and notes, each part once."""
    yield DocxStory(document.element)
    seen = set()
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype not in _STORIES:
            continue
        part = relation.target_part
        # Two relations may lead to one part.
        if id(part) in seen:
            continue
        seen.add(id(part))
        if (root := parts.tree(part)) is not None:
            yield DocxStory(root, None if isinstance(part, XmlPart) else part)


_OTHERS = {RT.COMMENTS: "comments", RT.GLOSSARY_DOCUMENT: "the file's building blocks"}


def _other_stories(document: Document, parts: LibraryParts) -> Iterator[tuple[str, DocxStory]]:
    """Yield what holds text that is not replaced, with what it is called."""
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype not in _OTHERS:
            continue
        if (root := parts.tree(relation.target_part)) is not None:
            yield _OTHERS[relation.reltype], DocxStory(root)


def _flows(root: etree._Element) -> Iterator[RunFlow]:
    """Yield the paragraphs of a part in order, those of text boxes behind the ones they are in."""
    states: dict[etree._Element | None, FieldState] = {}
    has_fields = next(root.iter(f"{W}fldChar"), None) is not None
    for paragraph in root.iter(PARAGRAPH):
        # Without fields no paragraph's ancestors need be looked at.
        scope = _nearest(paragraph, _FIELD_SCOPES) if has_fields else None
        state = states.get(scope, ())
        text, _, states[scope] = read_flow(paragraph, state)
        if text:
            yield RunFlow(paragraph, text, state)


def _counted(changed: list[tuple[RunFlow, int]]) -> int:
    """Return how many replacements people see: of alternatives that say the same only one."""
    total = 0
    branches: Counter[etree._Element] = Counter()
    for flow, count in changed:
        around = [each for each in flow.paragraph.iterancestors() if each.tag in _BRANCHES]
        if not around:
            total += count
        else:
            branches.update(dict.fromkeys(around, 0))
            branches[around[0]] += count
    # What stands inside of other alternatives is settled first.
    for branch in sorted(branches, key=_depth, reverse=True):
        alternatives = branch.getparent()
        if alternatives is None or branch not in branches:
            continue
        most = max(branches.pop(each, 0) for each in alternatives.iterchildren(*_BRANCHES))
        outer = _nearest(alternatives, _BRANCHES)
        if outer is None:
            total += most
        else:
            branches[outer] += most
    return total


def _nearest(element: etree._Element, tags: frozenset[str]) -> etree._Element | None:
    return next((each for each in element.iterancestors() if each.tag in tags), None)


def _depth(element: etree._Element) -> int:
    return sum(1 for _ in element.iterancestors())
