"""All text of a document, for replacing: body, headers, footers, notes, and the boxes in them.

Texts are read once and kept while only replacements change them, so that each of many replacements
costs a search through strings.

Text replaced in a flow: each hit once, in the run where it begins.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import Part, XmlPart
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.opc.rewriter import xml_bytes
from kbd_docx.blocks import PARAGRAPH, W
from kbd_docx.edits.flow import MC, FieldState, FlowPiece, RunFlow, computing_field, read_flow
from kbd_docx.edits.texts import T, clean, set_text, text_node, text_nodes
from kbd_docx.operations import ReplaceText

__all__ = ["Stories", "folded", "hits", "put_in_place", "replaced", "touched"]

Hit = tuple[int, int]
"""Where what was found begins and ends."""


def folded(text: str) -> str:
    """Return a text without case, character by character, so that places in it stay."""
    if text.isascii():
        return text.lower()
    whole = text.casefold()
    if len(whole) == len(text):
        return whole
    return "".join(_folded_sign(sign) for sign in text)


def _folded_sign(sign: str) -> str:
    found = sign.casefold()
    return found if len(found) == 1 else sign


def hits(text: str, search: str) -> Iterator[Hit]:
    """Yield where a text occurs in another one, from the left, none over another."""
    start = text.find(search)
    while start >= 0:
        end = start + len(search)
        yield start, end
        start = text.find(search, end)


def replaced(text: str, found: Sequence[Hit], replacement: str) -> str:
    """Return a text with hits in it replaced."""
    kept_from = 0
    parts = []
    for start, end in found:
        parts += [text[kept_from:start], replacement]
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def touched(
    pieces: Sequence[FlowPiece], found: Sequence[Hit]
) -> list[tuple[FlowPiece, Sequence[Hit]]]:
    """Return the pieces that hits lie in, each with its hits."""
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


def put_in_place(piece: FlowPiece, over: Sequence[Hit], replacement: str) -> None:
    """Give a piece the text that is left of it, with replacements of the hits that begin in it.

    What is left of a hit in later pieces goes; an element that nothing is left of is taken out,
    runs stay.
    """
    text = piece.element.text or "" if piece.element.tag == T else piece.text
    kept_from = 0
    parts: list[tuple[str, bool]] = []
    for start, end in over:
        parts.append((text[kept_from : max(start - piece.start, 0)], False))
        if start >= piece.start:
            parts.append((replacement, True))
        kept_from = end - piece.start
    parts.append((text[kept_from:], False))
    _fill(piece.element, [part for part in parts if part[0]])


def _fill(element: etree._Element, parts: Sequence[tuple[str, bool]]) -> None:
    """Put texts in an element's place; of new ones, breaks and tabs become elements."""
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
_ROOMS = frozenset((f"{W}txbxContent", f"{W}footnote", f"{W}endnote"))
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
        notices: Gets what the reader must know.
    """

    def __init__(self, document: Document, notices: EditWarnings) -> None:
        self._document, self._notices = document, notices
        self._found: list[DocxStory] | None = None

    def forget_body(self) -> None:
        """Read the body again before the next replacement: it was changed."""
        if self._found is not None:
            self._found[0].flows = None
            self._found[0].folded.clear()

    def replace(self, operation: ReplaceText) -> str:
        """Replace a text everywhere and return how often.

        Raises:
            ValidationFailed: There is nothing to search for, or the result would be too long.
        """
        search = clean(operation.search, self._notices.warn)
        replacement = clean(operation.replace, self._notices.warn)
        if not search:
            raise ValidationFailed("replace_text needs a text to search for.")
        if self._found is None:
            self._found = list(_stories(self._document))
        computed: Counter[str] = Counter()
        count = 0
        for story in self._found:
            count += self._replace_in(story, search, replacement, operation, computed)
        if computed:
            self._notices.warn(
                f"Text was replaced in results of fields ({listed(sorted(computed))}), which "
                "programs may compute anew."
            )
        if not count:
            self._tell_absence(search)
        return f"{count} replacement{'' if count == 1 else 's'}"

    def _tell_absence(self, search: str) -> None:
        more = " A search does not go over the end of a paragraph." if "\n" in search else ""
        self._notices.warn(f"{search!r} was not found; nothing was replaced.{more}")

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
        wanted = search if operation.match_case else folded(search)
        changed: list[tuple[RunFlow, int]] = []
        growth = 0
        for place, flow in enumerate(story.flows):
            text = flow.text
            if not operation.match_case:
                text = story.folded.get(place) or folded(flow.text)
                story.folded[place] = text
            if wanted not in text:
                continue
            found = list(hits(text, wanted))
            growth += len(found) * (len(replacement) - len(search))
            if growth > MAX_GROWTH_CHARACTERS:
                msg = f"This would make the document {growth} characters longer."
                raise ValidationFailed(msg)
            _, pieces, _ = read_flow(flow.paragraph, flow.state)
            for piece, over in touched(pieces, found):
                computed.update(filter(None, [computing_field(piece)]))
                self._settle_controls(piece)
                put_in_place(piece, over, replacement)
            flow.text = replaced(flow.text, found, replacement)
            story.folded.pop(place, None)
            changed.append((flow, len(found)))
        if changed and story.part is not None:
            story.part._blob = xml_bytes(story.root)  # noqa: SLF001 - notes are bytes to the library
        return _counted(changed)

    def _settle_controls(self, piece: FlowPiece) -> None:
        """Make the text of a content control what it now is: content, no placeholder."""
        for control in piece.element.iterancestors(f"{W}sdt"):
            properties = control.find(f"{W}sdtPr")
            if properties is None:
                continue
            for placeholder in properties.findall(f"{W}showingPlcHdr"):
                properties.remove(placeholder)
            if properties.find(f"{W}dataBinding") is not None:
                self._notices.warn(
                    "Text was replaced in a content control that shows data kept elsewhere in the "
                    "file; programs may show that data again."
                )


def _stories(document: Document) -> Iterator[DocxStory]:
    """Yield the body, then headers, footers and notes, each part once."""
    yield DocxStory(document.element)
    seen = set()
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype not in _STORIES:
            continue
        part = relation.target_part
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, XmlPart):
            yield DocxStory(part.element)
        elif part.blob:
            yield DocxStory(parse_xml(part.blob), part)


def _flows(root: etree._Element) -> Iterator[RunFlow]:
    """Yield the paragraphs of a part in order, those of text boxes behind the ones they are in."""
    states: dict[etree._Element | None, FieldState] = {}
    has_fields = next(root.iter(f"{W}fldChar"), None) is not None
    for paragraph in root.iter(PARAGRAPH):
        room = _nearest(paragraph, _ROOMS) if has_fields else None
        state = states.get(room, ())
        text, _, states[room] = read_flow(paragraph, state)
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
