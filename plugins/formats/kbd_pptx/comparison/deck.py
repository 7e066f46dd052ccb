"""Changes of what belongs to the whole deck: size, sections, design, properties, other parts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd.office.theme import read_theme
from kbd.opc.element_names import local_name
from kbd.opc.guard import part_key
from kbd.opc.package import CONTENT_TYPES
from kbd_pptx.comparison.format_names import Details, name_differences
from kbd_pptx.comparison.markup import Fact, PartValue, differences, read_facts
from kbd_pptx.comparison.matches import Matches, SlideMatches, moved_items
from kbd_pptx.comparison.places import slide_place
from kbd_pptx.comparison.text import ItemPair, pair_items
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.presentation import P14, P
from kbd_pptx.reader.boxes import EMU_PER_INCH

__all__ = [
    "DesignPart",
    "compare_decks",
    "deck_places",
    "design_parts",
    "match_designs",
    "name_layouts",
]

_COMPARED_APART = tuple(
    f"{P}{name}"
    for name in ("sldIdLst", "sldMasterIdLst", "notesMasterIdLst", "handoutMasterIdLst", "sldSz")
)
"""What of the main part is compared under names of its own."""

_DERIVED = frozenset((
    "TotalTime", "Words", "Paragraphs", "Slides", "Notes", "HiddenSlides", "MMClips", "Pages",
    "Characters", "CharactersWithSpaces", "Lines", "HeadingPairs", "TitlesOfParts", "ScaleCrop",
    "LinksUpToDate", "SharedDoc", "HyperlinksChanged", "PresentationFormat",
))  # fmt: skip
"""Properties that programs count or copy from the deck itself: what they say differs there."""

_SETTINGS = Place("presentation settings", part="presentation settings")
_SIZE = Place("slide size", part="slide size")


def compare_decks(
    before: DeckVersion, after: DeckVersion, slides: SlideMatches, changes: ChangeList
) -> None:
    """Add what differs in two decks beside their slides; call it after those were compared."""
    if before.deck.size != after.deck.size:
        sizes = [_inches(version.deck.size) for version in (before, after)]
        changes.add(Change(_SIZE, "changed", "slide size", before=sizes[0], after=sizes[1]))
    _compare_settings(before, after, changes)
    _compare_sections(before, after, slides.slides, changes)
    _compare_designs(before, after, changes)
    _compare_properties(before, after, changes)
    _compare_parts(before, after, changes)


def _inches(size: tuple[float, float]) -> dict[str, float]:
    width, height = size
    return {
        "width": round(width / EMU_PER_INCH, 4), "height": round(height / EMU_PER_INCH, 4)
    }  # fmt: skip


def _compare_settings(before: DeckVersion, after: DeckVersion, changes: ChangeList) -> None:
    facts = []
    for version in (before, after):
        root = version.deck.parts.root(version.deck.part)
        skipped = {each for each in root if each.tag in _COMPARED_APART}
        skipped.update(root.iterfind(f"{P}extLst/{P}ext/{P14}sectionLst/.."))
        facts.append(list(read_facts(root, version.resolve(version.deck.part), skipped)))
    # An empty list of extensions is left of one that held the sections alone.
    bare = ("extLst", "")
    facts = [[fact for fact in each if fact != bare] for each in facts]
    named = name_differences(differences(*facts))
    details: Details = named.details
    if before.type != after.type:
        details["type"] = (before.type, after.type)
    for old, new in named.parts:
        details[f"relation {(new or old or PartValue('', '', 0)).kind}"] = (
            None if old is None else old.digest,
            None if new is None else new.digest,
        )
    if details:
        changes.add(Change(_SETTINGS, "changed", "property", details=details))


def _section_place(name: str) -> Place:
    return Place(f"section {name}", part=f"section {name}")


def _compare_sections(
    before: DeckVersion, after: DeckVersion, slides: Matches, changes: ChangeList
) -> None:
    old, new = before.deck.sections(), after.deck.sections()
    places = slides.after

    def like(i: int, j: int) -> float:
        olds = {places.get(index) for index in old[i][1]}
        return 2 * len(olds & set(new[j][1])) / max(1, len(old[i][1]) + len(new[j][1]))

    pairs = pair_items([name for name, _ in old], [name for name, _ in new], like)
    for i, j in pairs:
        if i is None and j is not None:
            changes.add(Change(
                _section_place(new[j][0]), "added", "section", after=_numbers(new[j][1])
            ))  # fmt: skip
        elif j is None and i is not None:
            changes.add(Change(
                _section_place(old[i][0]), "removed", "section", before=_numbers(old[i][1])
            ))  # fmt: skip
        elif i is not None and j is not None and old[i][0] != new[j][0]:
            changes.add(Change(
                _section_place(new[j][0]), "changed", "section", before=old[i][0], after=new[j][0]
            ))  # fmt: skip
    _compare_members(old, new, pairs, slides, changes)


def _compare_members(
    old: Sequence[tuple[str, list[int]]],
    new: Sequence[tuple[str, list[int]]],
    pairs: Sequence[ItemPair],
    slides: Matches,
    changes: ChangeList,
) -> None:
    """Add the slides that stand in another section; those of new or gone ones are told there."""
    same = {i: j for i, j in pairs if i is not None and j is not None}
    of_old = {index: i for i, (_, indices) in enumerate(old) for index in indices}
    of_new = {index: j for j, (_, indices) in enumerate(new) for index in indices}
    for before, after in slides.pairs:
        was, now = of_old.get(before), of_new.get(after)
        is_apart = (was is None or was in same) and (now is None or now in same.values())
        if is_apart and (None if was is None else same[was]) != now:
            names = [None if at is None else each[at][0] for at, each in ((was, old), (now, new))]
            changes.add(Change(
                slide_place(after), "changed", "section", before=names[0], after=names[1]
            ))  # fmt: skip


def _numbers(indices: Sequence[int]) -> list[str]:
    return [f"slide {index + 1}" for index in indices]


class DesignPart(NamedTuple):
    """A master, a layout or a theme.

    Args:
        kind: "master", "layout" or "theme".
        name: Its name.
        part: Its part.
        of: The name of the master that it belongs to.
    """

    kind: str
    name: str
    part: str
    of: str

    @property
    def place(self) -> Place:
        """Its place."""
        return Place(f"{self.kind} {self.name or self.part}", part=self.part)


def design_parts(version: DeckVersion) -> list[DesignPart]:
    """Return masters with their themes and layouts, then the masters of notes and handouts."""
    deck = version.deck
    found: list[DesignPart] = []
    for master in deck.masters():
        part, *layouts = master.parts
        found.append(DesignPart("master", master.name, part, master.name))
        if theme := deck.parts.target(part, "theme"):
            found.append(DesignPart("theme", master.name, theme, master.name))
        found += [
            DesignPart("layout", name, layout, master.name)
            for name, layout in zip(master.layouts, layouts, strict=True)
        ]
    for kind, name in (("notesMaster", "of notes"), ("handoutMaster", "of handouts")):
        if part := deck.parts.target(deck.part, kind):
            found.append(DesignPart("master", name, part, name))
            if theme := deck.parts.target(part, "theme"):
                found.append(DesignPart("theme", name, theme, name))
    # A layout or a theme may be listed by several masters.
    return list({each.part: each for each in reversed(found)}.values())[::-1]


def match_designs(old: Sequence[DesignPart], new: Sequence[DesignPart]) -> Matches:
    """Return which parts of the design are the same: by name and part, by name, by part."""
    pairs: dict[int, int] = {}
    left = dict.fromkeys(range(len(new)))
    keys = (
        lambda each: (each.kind, each.part, each.name),
        lambda each: (each.kind, each.of, each.name),
        lambda each: (each.kind, each.part),
    )
    for key in keys:
        places = {key(new[j]): j for j in reversed(left)}
        for i, each in enumerate(old):
            j = places.get(key(each))
            if i not in pairs and j is not None and j in left:
                pairs[i] = j
                del left[j]
    return Matches(tuple(sorted(pairs.items())))


def name_layouts(before: DeckVersion, after: DeckVersion) -> None:
    """Have layouts that are the same called alike in both versions."""
    old, new = design_parts(before), design_parts(after)
    names = Counter(each.name for each in new if each.kind == "layout")
    for i, j in match_designs(old, new).pairs:
        if new[j].kind == "layout":
            # Of several layouts of a name each is one, and its part tells which.
            name = new[j].name if names[new[j].name] == 1 else f"{new[j].name} ({new[j].part})"
            before.layout_names[old[i].part] = after.layout_names[new[j].part] = name


def _compare_designs(before: DeckVersion, after: DeckVersion, changes: ChangeList) -> None:
    old, new = design_parts(before), design_parts(after)
    for version, parts in ((before, old), (after, new)):
        version.compared.update(each.part for each in parts)
    matches = match_designs(old, new)
    moved = moved_items(len(old), len(new), matches)
    # What came or went with its master is told with it.
    come = {each.of for j, each in enumerate(new) if _is_master(each) and j not in matches.before}
    gone = {each.of for i, each in enumerate(old) if _is_master(each) and i not in matches.after}
    for j, each in enumerate(new):
        i = matches.before.get(j)
        if i is None:
            if _is_master(each) or each.of not in come:
                changes.add(Change(each.place, "added", each.kind, after=each.name or None))
            continue
        if j in moved:
            changes.add(Change(each.place, "moved", each.kind, moved_from=old[i].place))
        details = _design_details(before, old[i], after, each)
        if details:
            changes.add(Change(each.place, "changed", each.kind, details=details))
    for i, each in enumerate(old):
        if i not in matches.after and (_is_master(each) or each.of not in gone):
            changes.add(Change(each.place, "removed", each.kind, before=each.name or None))


def _is_master(each: DesignPart) -> bool:
    return each.kind == "master"


def _design_details(
    before: DeckVersion, old: DesignPart, after: DeckVersion, new: DesignPart
) -> Details:
    """Return what differs in a master, a layout or a theme."""
    details: Details = {}
    facts: list[list[Fact]] = []
    looks: list[dict[str, str]] = []
    try:
        for version, each in ((before, old), (after, new)):
            root = version.deck.parts.root(each.part)
            skipped = set(root.iterfind(f"{P}sldLayoutIdLst"))
            if each.kind == "theme":
                looks.append(_theme_look(root))
                skipped.update(_resolved(root))
            found = version.part_facts(each.part, root, skipped)
            facts.append([fact for fact in found if fact[0] not in _NAMES])
    except FileReadFailed as error:
        if before.part_bytes(old.part) == after.part_bytes(new.part):
            return {}
        return {"unreadable": (None, error.message)}
    if old.name != new.name:
        details["name"] = (old.name, new.name)
    if looks:
        for name in {**looks[0], **looks[1]}:
            pair = looks[0].get(name), looks[1].get(name)
            if pair[0] != pair[1]:
                details[name] = pair
    named = name_differences(differences(*facts))
    for one, other in named.parts:
        kind = (other or one or PartValue("", "", 0)).kind
        details[kind] = (None if one is None else one.digest, other and other.digest)
    for link, other_link in named.links:
        details["link"] = (link, other_link)
    return {**details, **named.details}


_NAMES = ("cSld@name", "@name")
"""What is told as the name of a layout or a theme."""


def _theme_look(root: etree._Element) -> dict[str, str]:
    theme = read_theme(root)
    colors = {f"color {slot}": f"#{rgb}" for slot, rgb in theme.colors.items()}
    return {**colors, **{f"font {slot}": name for slot, name in theme.fonts.items()}}


def _resolved(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the colors of a theme that are told by their names: plain ones."""
    for entry in root.iterfind("./*/{*}clrScheme/*"):
        if len(entry) == 1 and not len(entry[0]) and entry[0].tag.endswith("}srgbClr"):
            yield entry


_KINDS = {
    "core-properties": "core", "extended-properties": "app", "extendedProperties": "app",
    "custom-properties": "custom", "customProperties": "custom",
}  # fmt: skip


def _properties(version: DeckVersion) -> dict[str, str]:
    """Return what a deck says of itself, by name."""
    found: dict[str, str] = {}
    for relation in version.package.relations(""):
        kind = _KINDS.get(relation.kind)
        if kind is None or not version.deck.parts.has(relation):
            continue
        with version.deck.skip_unreadable("What the file says of itself"):
            root = version.deck.parts.root(relation.target)
            version.compared.add(relation.target)
            for element in root:
                name = element.get("name") or local_name(element)
                if name and not (kind == "app" and name in _DERIVED):
                    texts = (str(text).strip() for text in element.itertext())
                    found[name] = " ".join(filter(None, texts))
    return found


def _property_place(name: str) -> Place:
    return Place(f"property {name}", part=f"property {name}")


def _compare_properties(before: DeckVersion, after: DeckVersion, changes: ChangeList) -> None:
    old, new = _properties(before), _properties(after)
    for name in {**old, **new}:
        was, now = old.get(name) or None, new.get(name) or None
        if was != now:
            kind: ChangeKind = "changed" if was and now else "added" if now else "removed"
            changes.add(Change(_property_place(name), kind, "property", before=was, after=now))


_AUTHORS = ("commentAuthors", "authors")
"""Their names are told with the comments."""


def _other_parts(version: DeckVersion) -> dict[str, str]:
    """Return the parts that nothing else compares: their names by key."""
    for kind in _AUTHORS:
        version.compared.add(version.deck.parts.target(version.deck.part, kind))
    compared = {part_key(part) for part in version.compared if part}
    return {
        key: info.filename
        for key, info in version.package.by_key.items()
        if key not in compared
        and not key.endswith((".rels", "/"))
        and key != part_key(CONTENT_TYPES)
    }


def _part_place(name: str) -> Place:
    return Place(f"part {name}", part=name)


def _compare_parts(before: DeckVersion, after: DeckVersion, changes: ChangeList) -> None:
    """Add the other parts that differ; one that is there under another name is the same."""
    old, new = _other_parts(before), _other_parts(after)
    old_digests = {before.part_digest(name) for name in old.values()}
    new_digests = {after.part_digest(name) for name in new.values()}
    for key in sorted({*old, *new}):
        one, other = old.get(key), new.get(key)
        change: tuple[ChangeKind, str] | None = None
        if one is not None and other is not None:
            if before.part_digest(one) != after.part_digest(other):
                change = "changed", other
        # What only lost its slide is no part that came.
        elif other is not None:
            if not _is_in(before, other, old_digests, after):
                change = "added", other
        elif one is not None and not _is_in(after, one, new_digests, before):
            change = "removed", one
        if change is not None:
            kind, name = change
            was = None if one is None else _told(before, one)
            now = None if other is None else _told(after, other)
            changes.add(Change(_part_place(name), kind, "part", before=was, after=now))


def _is_in(version: DeckVersion, part: str, digests: set[str], of: DeckVersion) -> bool:
    """Tell whether a part of another version is in this one, under any name that it may have."""
    if of.part_digest(part) in digests:
        return True
    return part in version.package and version.part_bytes(part) == of.part_bytes(part)


def _told(version: DeckVersion, part: str) -> dict[str, Any]:
    value = version.part_bytes(part)
    return {"size_bytes": value.size_bytes, "sha256": value.digest}


def deck_places(version: DeckVersion) -> list[Place]:
    """Return the places of a deck that are on no slide."""
    return [
        *(_section_place(name) for name, _ in version.deck.sections()),
        *(each.place for each in design_parts(version)),
        *(_property_place(name) for name in _properties(version)),
        _SETTINGS,
        _SIZE,
        *(_part_place(info.filename) for info in version.package.entries),
    ]
