"""Changes of slides: what stands on one, and what belongs to it: notes, comments, transitions."""

from collections.abc import Sequence

from lxml import etree

from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd.formats.alignment import align, pair_similar
from kbd.opc.element_names import local_name
from kbd_pptx.comparison.format_names import name_differences
from kbd_pptx.comparison.markup import (
    Fact,
    PartValue,
    Value,
    differences,
    digest,
    read_facts,
)
from kbd_pptx.comparison.matches import SlideMatches
from kbd_pptx.comparison.places import paragraph_place, part_of_slide, slide_place
from kbd_pptx.comparison.shapes import SlideSide, compare_shapes
from kbd_pptx.comparison.text import (
    add_embedded,
    add_links,
    compare_paragraphs,
    pair_with_moved,
    plain_paragraphs,
    text_change,
    words_in_common,
)
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.presentation import MC, A, P
from kbd_pptx.reader.notes import Comment, read_comments
from kbd_pptx.reader.slide import Slide, slide_notes, slide_text

__all__ = [
    "add_whole_slide",
    "compare_comments",
    "compare_notes",
    "compare_slides",
    "is_same",
]

LIKE = 0.5

_MOVEMENTS = {f"{P}transition": "transition", f"{P}timing": "animation"}
_ALTERNATE = f"{MC}AlternateContent"
_OMITTED = {f"{P}sld": ("show",)}


def add_whole_slide(
    version: DeckVersion, index: int, kind: ChangeKind, changes: ChangeList
) -> None:
    """Add that a slide came or went, with its text."""
    text = None
    if not changes.is_full:
        slide = version.slide(index)
        # A slide without text is told as what it is.
        text = None if slide is None else _text(version, slide)
    place = slide_place(index)
    if kind == "added":
        changes.add(Change(place, kind, "slide", after=text))
    else:
        changes.add(Change(place, kind, "slide", before=text))


def _text(version: DeckVersion, slide: Slide) -> str:
    return slide_text(version.deck, slide, version.looks) or slide.layout.name


def compare_slides(
    before: DeckVersion, i: int, after: DeckVersion, j: int, changes: ChangeList
) -> None:
    """Add what differs on a slide, and in what belongs to it."""
    old, new = SlideSide.of(before, i), SlideSide.of(after, j)
    if old is None or new is None:
        _compare_unread(before, i, after, j, changes)
        return
    place = slide_place(j)
    if old.slide.is_hidden != new.slide.is_hidden:
        details = {"hidden": (old.slide.is_hidden, new.slide.is_hidden)}
        changes.add(Change(place, "changed", "slide", details=details))
    if before.layout_name(i) != after.layout_name(j):
        names = old.slide.layout.name or None, new.slide.layout.name or None
        if names[0] == names[1]:
            names = before.layout_name(i), after.layout_name(j)
        changes.add(Change(place, "changed", "layout", before=names[0], after=names[1]))
    count = changes.total
    compare_shapes(old, new, changes)
    # The drawing of a diagram follows from it, and is told where nothing else is.
    is_drawn = changes.total == count
    for what in ("background", *_MOVEMENTS.values()):
        _compare_element(old, new, what, changes)
    _compare_rest(old, new, place, changes, with_drawings=is_drawn)
    compare_notes(old, new, changes)
    compare_comments(old, new, changes)


def _compare_unread(
    before: DeckVersion, i: int, after: DeckVersion, j: int, changes: ChangeList
) -> None:
    parts = [(before, before.deck.slides[i].part), (after, after.deck.slides[j].part)]
    values = [version.part_bytes(part) if part else None for version, part in parts]
    if values[0] == values[1]:
        return
    plain = [value and {"size_bytes": value[2], "sha256": value[1]} for value in values]
    changes.add(Change(
        slide_place(j), "changed", "slide", before=plain[0], after=plain[1],
        note="it cannot be read in one of the versions",
    ))  # fmt: skip


def _named_element(slide: Slide, what: str) -> etree._Element | None:
    """Return the element of a slide that is its background, transition or animation."""
    if what == "background":
        return slide.root.find(f"{P}cSld/{P}bg")
    for child in slide.root:
        if _MOVEMENTS.get(child.tag) == what:
            return child
        # Newer transitions are wrapped, with an older one for those who do not know them.
        if child.tag == _ALTERNATE:
            inner = (each for choice in child for each in choice)
            if any(_MOVEMENTS.get(each.tag) == what for each in inner):
                return child
    return None


def _compare_element(old: SlideSide, new: SlideSide, what: str, changes: ChangeList) -> None:
    elements = [_named_element(side.slide, what) for side in (old, new)]
    facts = [
        [] if element is None else list(read_facts(element, side.resolve))
        for element, side in zip(elements, (old, new), strict=True)
    ]
    if facts[0] == facts[1]:
        return
    kind: ChangeKind = "changed"
    if elements[0] is None or elements[1] is None:
        kind = "added" if elements[0] is None else "removed"
    named = name_differences(differences(*facts))
    place = part_of_slide(new.slide.index, what)
    texts = [None if each is None else _told(what, each) for each in elements]
    # Of an animation that is new the few words say more than its hundred nodes.
    details = named.details if kind == "changed" or what == "background" else {}
    changes.add(Change(place, kind, what, before=texts[0], after=texts[1], details=details))
    add_embedded(named, place, changes)


def _told(what: str, element: etree._Element) -> str | None:
    """Return a transition or an animation in a few words; None where there are none."""
    if what == "animation":
        count = sum(1 for each in element.iter(f"{P}cTn") if each.get("presetID"))
        return f"{count} effects"
    if what == "transition":
        for each in element.iter(f"{P}transition"):
            names = [local_name(child) for child in each if child.tag != f"{P}extLst"]
            return " ".join((*names, each.get("spd", ""))).strip() or "none"
    return None


def _compare_rest(
    old: SlideSide, new: SlideSide, place: Place, changes: ChangeList, *, with_drawings: bool
) -> None:
    """Add what differs in a slide beside what was compared under names of its own."""
    named = name_differences(differences(_rest(old), _rest(new)))
    if named.details:
        changes.add(Change(place, "changed", "slide", details=named.details))
    add_links(named, place, changes)
    add_embedded(named, place, changes)
    unnamed = [_unnamed(side, with_drawings=with_drawings) for side in (old, new)]
    drawn = (
        [value for value in unnamed[0] if value not in unnamed[1]],
        [value for value in unnamed[1] if value not in unnamed[0]],
    )
    pairs = zip([*drawn[0], *[None] * len(drawn[1])], drawn[1], strict=False)
    for one, other in [*pairs, *((value, None) for value in drawn[0][len(drawn[1]) :])]:
        kind: ChangeKind = "changed" if one and other else "added" if other else "removed"
        what = (other or one or ("", ""))[0]
        values = [None if each is None else _part(each[1]) for each in (one, other)]
        part = part_of_slide(new.slide.index, what)
        changes.add(Change(part, kind, "part", before=values[0], after=values[1]))


def _rest(side: SlideSide) -> list[Fact]:
    root = side.slide.root
    skipped: set[etree._Element] = {shape.element for shape in side.slide.shapes}
    for what in ("background", *_MOVEMENTS.values()):
        element = _named_element(side.slide, what)
        if element is not None:
            skipped.add(element)
    # Of alternatives what was not chosen is shown by older programs alone.
    for wrap in root.iter(_ALTERNATE):
        if any(each in skipped for choice in wrap for each in choice):
            skipped.add(wrap)
    return list(read_facts(root, side.resolve, skipped, _OMITTED))


def _unnamed(side: SlideSide, *, with_drawings: bool) -> list[tuple[str, Value]]:
    """Return what a slide leads to without naming it."""
    used: set[str] = set()
    for element in side.slide.root.iter():
        used.update(str(value) for value in element.attrib.values())
    found = side.version.unnamed(side.slide.part, used)
    return [each for each in found if with_drawings or each[0] != "diagramDrawing"]


def _part(value: Value) -> object:
    if isinstance(value, PartValue):
        return {"size_bytes": value.size_bytes, "sha256": value.digest}
    return value


def compare_notes(old: SlideSide, new: SlideSide, changes: ChangeList) -> None:
    """Add what differs in the notes of a slide."""
    texts = [slide_notes(side.version.deck, side.slide) for side in (old, new)]
    places = [part_of_slide(side.slide.index, "notes") for side in (old, new)]
    if texts[0] != texts[1]:
        olds, news = (plain_paragraphs(text) for text in texts)
        # Notes with nothing of what they were are told whole, not line by line.
        if not any(i is not None and j is not None for i, j in pair_with_moved(olds, news)):
            changes.add(text_change(places[1], "notes", texts[0], texts[1]))
            return
        several = max(len(olds), len(news))
        compare_paragraphs(
            olds,
            news,
            lambda at: paragraph_place(places[1], at, several),
            lambda at: paragraph_place(places[0], at, several),
            changes,
            "notes",
        )
        return
    facts = [_notes_facts(side) for side in (old, new)]
    # A page of notes without a text is one that nobody ever wrote on.
    if not texts[0] and not (facts[0] and facts[1]):
        return
    if digest(facts[0]) != digest(facts[1]):
        named = name_differences(differences(*facts))
        note = "the text is the same; its page differs"
        changes.add(Change(places[1], "changed", "notes", details=named.details, note=note))


def _notes_facts(side: SlideSide) -> list[Fact]:
    deck = side.version.deck
    part = deck.parts.target(side.slide.part, "notesSlide")
    if not part:
        return []
    side.version.compared.add(part)
    with deck.skip_unreadable(f"The notes page of {side.slide.place}"):
        root = deck.parts.root(part)
        fields = {text for field in root.iter(f"{A}fld") for text in field.iter(f"{A}t")}
        return list(side.version.part_facts(part, root, fields))
    return []


def compare_comments(old: SlideSide, new: SlideSide, changes: ChangeList) -> None:
    """Add the comments that came, went or differ."""
    olds, news = (read_comments(side.version.deck, side.slide.part) for side in (old, new))
    for side in (old, new):
        for relation in side.version.deck.parts.relations(side.slide.part).values():
            if relation.kind == "comments":
                side.version.compared.add(relation.target)
    if olds == news and _comment_facts(old) != _comment_facts(new):
        place = part_of_slide(new.slide.index, "comments")
        note = "what they say is the same; where they stand, or how, differs"
        changes.add(Change(place, "changed", "comment", note=note))
    for block in align(olds, news):
        if block.kind == "equal":
            continue
        _compare_replaced(
            (old.slide.index, block.i1, olds[block.i1 : block.i2]),
            (new.slide.index, block.j1, news[block.j1 : block.j2]),
            changes,
        )


def _comment_facts(side: SlideSide) -> list[Fact]:
    """Return what is said of comments beside their texts; who wrote them is told by name."""
    found: list[Fact] = []
    deck = side.version.deck
    for relation in deck.parts.relations(side.slide.part).values():
        if relation.kind == "comments" and deck.parts.has(relation):
            with deck.skip_unreadable("A comment"):
                root = deck.parts.root(relation.target)
                apart = set(root.iter(f"{P}extLst"))
                omitted = {str(each.tag): _COMMENT_IDS for each in root}
                found += read_facts(root, side.version.resolve(relation.target), apart, omitted)
    return found


_COMMENT_IDS = ("authorId", "idx", "id")
"""What programs count anew."""


def _compare_replaced(
    old: tuple[int, int, Sequence[Comment]],
    new: tuple[int, int, Sequence[Comment]],
    changes: ChangeList,
) -> None:
    """Add the changes of comments of which none is equal to another."""
    old_slide, old_start, olds = old
    new_slide, new_start, news = new
    pairs = dict(pair_similar(olds, news, _likeness, LIKE))
    for i, comment in enumerate(olds):
        if i not in pairs:
            place = part_of_slide(old_slide, f"comment {old_start + i + 1}")
            changes.add(Change(
                place, "removed", "comment", before=comment.text, note=_author(comment)
            ))  # fmt: skip
    places = {j: i for i, j in pairs.items()}
    for j, comment in enumerate(news):
        place = part_of_slide(new_slide, f"comment {new_start + j + 1}")
        if j not in places:
            changes.add(Change(
                place, "added", "comment", after=comment.text, note=_author(comment)
            ))  # fmt: skip
            continue
        was = olds[places[j]]
        if was.text != comment.text:
            changes.add(text_change(place, "comment", was.text, comment.text))
        about = {
            "author": (was.author, comment.author),
            "date": (was.date, comment.date),
            "is_reply": (was.is_reply, comment.is_reply),
        }
        details = {name: pair for name, pair in about.items() if pair[0] != pair[1]}
        if details and was.text == comment.text:
            changes.add(Change(place, "changed", "comment", details=details))


def _likeness(old: Comment, new: Comment) -> float:
    same = (old.author == new.author) + (old.date == new.date) + (old.text == new.text)
    return max(same / 3, words_in_common(old.text, new.text))


def _author(comment: Comment) -> str:
    return f"by {comment.author}" if comment.author else ""


def is_same(old: DeckVersion, i: int, new: DeckVersion, j: int, slides: SlideMatches) -> bool:
    """Tell whether two slides are the same to the byte, and lead to the same slides."""
    if j not in slides.same or old.slide_links(i) != new.slide_links(j):
        return False
    return old.layout_name(i) == new.layout_name(j)
