"""What a document says once for all of it: styles, lists, pages, settings, properties, other parts.

Every part that is interpreted nowhere is told by its size and digest where it differs, so that
nothing changes unseen.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeList
from kbd.opc import reading_errors, transitional, xml_root
from kbd.opc.element_names import local_name, local_part
from kbd.opc.package import relations_part
from kbd_docx.comparison.contents import Look, look_of
from kbd_docx.comparison.digests import element_digest
from kbd_docx.comparison.looks import attributes_text, look_difference
from kbd_docx.comparison.matches import BlockMatches, listed_side, match_items
from kbd_docx.comparison.places import part_place
from kbd_docx.comparison.tables import settings_look
from kbd_docx.comparison.version import DocxVersion, word_count
from kbd_docx.document import R, W, is_on
from kbd_docx.styles.properties import inches
from kbd_docx.styles.stylesheet import Style, value_of

__all__ = ["compare_definitions", "compare_page_ends", "compare_parts", "match_pages"]

_STYLE_FACTS = ("basedOn", "next", "link")
_INCHES = ("w", "h", "top", "right", "bottom", "left", "header", "footer", "gutter", "space")
_PAGE_NAMES = {
    "w": "page_width", "h": "page_height", "orient": "orientation", "top": "margin_top",
    "right": "margin_right", "bottom": "margin_bottom", "left": "margin_left",
    "header": "header_distance", "footer": "footer_distance", "gutter": "gutter",
}  # fmt: skip
_SETTINGS_PASSED_OVER = ("rsids", "proofState", "docId", "zoom", "view")
_STAMPS = ("modified", "revision", "lastPrinted", "lastModifiedBy", "version")
"""What each save writes anew; together they are one property."""

_COUNTED = frozenset((
    "Pages", "Words", "Characters", "Lines", "Paragraphs", "CharactersWithSpaces", "TotalTime",
    "Application", "AppVersion", "DocSecurity", "ScaleCrop", "LinksUpToDate", "SharedDoc",
    "HyperlinksChanged", "TitlesOfParts", "HeadingPairs", "DigSig", "HLinks",
))  # fmt: skip
"""What the program that saves a file counts or says of itself."""

_INTERPRETED = (
    "styles", "numbering", "settings", "footnotes", "endnotes", "comments", "commentsExtended",
    "commentsIds",
)  # fmt: skip
"""The parts that are told in words; of those of comments' ids nobody is told."""

_PROPERTY_KINDS = ("coreproperties", "extendedproperties", "customproperties")
_NAMES = {"creator": "author"}


def compare_definitions(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    """Add what differs between the styles, lists, pages, settings and properties of versions."""
    for kind, compare in (
        ("styles", _compare_styles), ("numbering", _compare_lists), ("settings", _compare_settings),
    ):  # fmt: skip
        if not _is_same(before, after, before.document.part(kind), after.document.part(kind)):
            compare(before, after, out)
    _compare_pages(before, after, out)
    _compare_controls(before, after, out)
    _compare_properties(before, after, out)


def _compare_styles(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    old, new = _styles(before), _styles(after)
    for name in [*new, *(each for each in old if each not in new)]:
        place = part_place(f"style {name}")
        was, now = old.get(name), new.get(name)
        if was is None or now is None:
            kind, style = ("added", now) if was is None else ("removed", was)
            value = style.type if style is not None else ""
            change = Change(place, "added", "style", after=value)
            out.add(change if kind == "added" else Change(place, "removed", "style", before=value))
        elif element_digest(was.element) != element_digest(now.element):
            details = look_difference(_style_look(before, was), _style_look(after, now))
            note = "" if details else "it is defined otherwise in a way that has no words here"
            out.add(Change(place, "changed", "style", details=details, note=note))
    defaults = [_defaults(version) for version in (before, after)]
    if details := look_difference(*defaults):
        out.add(Change(part_place("default formatting"), "changed", "style", details=details))


def _styles(version: DocxVersion) -> dict[str, Style]:
    """Return the styles by what people call them; kinds may share a name."""
    found: dict[str, Style] = {}
    for style in version.sheet:
        name = style.name if style.type == "paragraph" else f"{style.name} ({style.type})"
        # Of several of a name each is one.
        found.setdefault(f"{name} ({style.id})" if name in found else name, style)
    return found


def _style_look(version: DocxVersion, style: Style) -> Look:
    values = dict(version.looks.style(style.element))
    for fact in _STYLE_FACTS:
        if named := style.named(fact):
            values[fact] = version.looks.style_name(style.type, named)
    for child in style.element:
        name = local_name(child)
        if name in ("tblPr", "trPr", "tcPr"):
            values |= {f"{name}_{key}": value for key, value in settings_look(child)}
        elif name == "tblStylePr":
            values[f"part {child.get(f'{W}type', '')}"] = element_digest(child).hex()
        elif name not in ("pPr", "rPr", "name", "rsid", *_STYLE_FACTS) and name:
            values[name] = attributes_text(child) or True
    values["is_default"] = style.is_default
    return look_of(values)


def _defaults(version: DocxVersion) -> Look:
    root = version.sheet.root
    found = root.find(f"{W}docDefaults") if root is not None else None
    if found is None:
        return ()
    # They have the same children as a style, one level down.
    style = etree.Element(f"{W}style")
    for path in (f"{W}pPrDefault/{W}pPr", f"{W}rPrDefault/{W}rPr"):
        part = found.find(path)
        if part is not None:
            style.append(etree.fromstring(etree.tostring(part, with_tail=False)))
    return version.looks.style(style)


def _compare_lists(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    old, new = _lists(before), _lists(after)
    for number in [*new, *(each for each in old if each not in new)]:
        place = part_place(f"list {number}")
        was, now = old.get(number), new.get(number)
        if was is None and now is not None:
            out.add(Change(place, "added", "list", after=dict(now[1])))
        elif now is None and was is not None:
            out.add(Change(place, "removed", "list", before=dict(was[1])))
        elif was is not None and now is not None and was[0] != now[0]:
            details = look_difference(was[1], now[1])
            note = "" if details else "it is defined otherwise in a way that has no words here"
            out.add(Change(place, "changed", "list", details=details, note=note))


def _lists(version: DocxVersion) -> dict[str, tuple[bytes, Look]]:
    """Return the lists by number, each with a digest and how its levels are labeled."""
    found = {}
    digests: dict[int, tuple[bytes, Look]] = {}
    ids = frozenset((f"{W}abstractNumId",))
    part = version.document.part("numbering")
    for number, element in version.lists.numbers.items():
        abstract = version.lists.abstract_numbering(number)
        if id(abstract) not in digests:
            look: dict[str, Any] = {}
            for level in abstract.iterchildren(f"{W}lvl") if abstract is not None else ():
                label = f"{value_of(level, 'numFmt') or 'decimal'} {value_of(level, 'lvlText')}"
                look[f"level_{level.get(f'{W}ilvl', '0')}"] = label.strip()
            children = [] if abstract is None else list(abstract.iterchildren(f"{W}*"))
            parts = [version.parts.element(child, part) for child in children]
            digests[id(abstract)] = b"".join(parts), look_of(look)
        digest, levels = digests[id(abstract)]
        own = b"".join(element_digest(child, without=ids) for child in element
                       if isinstance(child.tag, str))  # fmt: skip
        found[number] = digest + own, levels
    root = version.lists.root
    for bullet in root.iterchildren(f"{W}numPicBullet") if root is not None else ():
        name = f"picture {bullet.get(f'{W}numPicBulletId', '')}"
        found[name] = version.parts.element(bullet, part), ()
    return found


def match_pages(before: DocxVersion, after: DocxVersion) -> BlockMatches:
    """Return which stretches of pages of two versions are the same."""
    sides = []
    for version in (before, after):
        looks = [_page_look(each.element) for each in version.body.sections]
        words = [word_count(" ".join(_facts_words(look))) for look in looks]
        sides.append(listed_side(looks, words))
    return match_items(*sides, fills_gaps=True)


def _facts_words(look: Look) -> Iterator[str]:
    return (f"{name}={value}".replace(" ", "_") for name, value in look)


def _compare_pages(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    old, new = before.body.sections, after.body.sections
    for event in match_pages(before, after).events:
        place = part_place(f"page section {max(event.after, 0) + 1}")
        if event.kind == "removed":
            place = part_place(f"page section {event.before + 1}")
            value = dict(_page_look(old[event.before].element))
            out.add(Change(place, "removed", "section", before=value))
        elif event.kind == "added":
            value = dict(_page_look(new[event.after].element))
            out.add(Change(place, "added", "section", after=value))
        else:
            looks = (_page_look(old[event.before].element), _page_look(new[event.after].element))
            out.add(Change(place, "changed", "section", details=look_difference(*looks)))
    if before.body.background != after.body.background:
        digests = before.body.background.hex() or None, after.body.background.hex() or None
        place = part_place("page background")
        out.add(Change(place, "changed", "format", details={"background": digests}))


def compare_page_ends(
    before: DocxVersion, after: DocxVersion, found: BlockMatches, out: ChangeList
) -> None:
    """Add the stretches of pages that end elsewhere: among other paragraphs than before.

    Args:
        before: The version before.
        after: The version after.
        found: Which blocks are the same.
        out: Where changes go.
    """
    # The last one of a body ends with it.
    ends = [
        [_last_block(version, each.paragraph) for each in version.body.sections[:-1]]
        for version in (before, after)
    ]
    moved = {event.after + at for event in found.events if event.kind == "moved"
             for at in range(event.length)}  # fmt: skip
    held = sorted((i, j) for i, j in found.forward.items() if j not in moved)
    places = [i for i, _ in held]
    for i, j in match_pages(before, after).forward.items():
        if i >= len(ends[0]) or j >= len(ends[1]):
            continue
        at = bisect_right(places, ends[0][i])
        least = held[at - 1][1] if at else -1
        beyond = held[at][1] if at < len(held) else len(after.body.blocks)
        if not least <= ends[1][j] < beyond:
            pair = before.body.sections[i].paragraph, after.body.sections[j].paragraph
            place = part_place(f"page section {j + 1}")
            out.add(Change(place, "changed", "section", details={"last_paragraph": pair}))


def _last_block(version: DocxVersion, paragraph: int) -> int:
    """Return the index of the block that is the last of as many paragraphs."""
    places = version.body.places["paragraph"]
    return places[min(paragraph, len(places)) - 1] if paragraph and places else -1


def _page_look(section: etree._Element) -> Look:
    """Return the settings of a stretch of pages; which headers it has is told by themselves."""
    found: dict[str, Any] = {}
    for child in section:
        name = local_name(child)
        if not name or name.endswith("Reference"):
            continue
        if name in ("pgSz", "pgMar"):
            for key, value in child.attrib.items():
                word = local_part(str(key))
                length = inches(str(value)) if word in _INCHES else None
                found[_PAGE_NAMES.get(word, f"{name}_{word}")] = (
                    str(value) if length is None else length
                )
        elif len(child):
            found[name] = element_digest(child).hex()
        elif name == "titlePg":
            found["has_first_page_header"] = is_on(child)
        else:
            # Identifiers of the printer's settings are of no page.
            told = f"{R}id" not in child.attrib
            found[name] = (attributes_text(child) or True) if told else True
    return look_of({name: value for name, value in found.items() if value is not False})


def _compare_controls(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    """Add the content controls around paragraphs that came, went or changed."""
    sides = []
    for version in (before, after):
        found = version.body.controls
        words = [word_count(each.name or "unnamed") for each in found]
        sides.append(listed_side([each.digest for each in found], words))
    for event in match_items(*sides).events:
        if event.kind == "removed":
            control = before.body.controls[event.before]
            place = before.places.paragraph(control.paragraph)
            out.add(Change(place, "removed", "content control", before=control.name))
            continue
        control = after.body.controls[event.after]
        place = after.places.paragraph(control.paragraph)
        if event.kind == "added":
            out.add(Change(place, "added", "content control", after=control.name))
        else:
            was = before.body.controls[event.before].name
            note = "its settings differ" if was == control.name else ""
            change = Change(place, "changed", "content control", was, control.name, note=note)
            out.add(change)


def _compare_settings(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    old, new = _settings(before), _settings(after)
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        place = part_place(f"setting {name}")
        kind = "added" if was is None else "removed" if now is None else "changed"
        match kind:
            case "added":
                out.add(Change(place, "added", "setting", after=now))
            case "removed":
                out.add(Change(place, "removed", "setting", before=was))
            case _:
                out.add(Change(place, "changed", "setting", was, now))


def _settings(version: DocxVersion) -> dict[str, Any]:
    part = version.document.part("settings")
    root = version.document.part_root("settings")
    found: dict[str, Any] = {}
    for child in root if root is not None else ():
        name = local_name(child)
        if not name or name in _SETTINGS_PASSED_OVER:
            continue
        simple = not len(child) and not any(str(key).startswith(R) for key in child.attrib)
        value = (attributes_text(child) or True) if simple else (
            version.parts.element(child, part).hex()
        )  # fmt: skip
        found[name] = value if name not in found else f"{found[name]}; {value}"
    return found


def _compare_properties(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    old, new = _properties(before), _properties(after)
    place = part_place("properties")
    stamps: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        is_custom, name = key
        if name in _STAMPS and not is_custom:
            stamps[0][name], stamps[1][name] = was, now
            continue
        kind = "added" if was is None else "removed" if now is None else "changed"
        details = {name: (was, now)}
        match kind:
            case "added":
                out.add(Change(place, "added", "property", after=now, details=details))
            case "removed":
                out.add(Change(place, "removed", "property", before=was, details=details))
            case _:
                out.add(Change(place, "changed", "property", was, now, details=details))
    if stamps[0]:
        details = {name: (stamps[0][name], stamps[1][name]) for name in stamps[0]}
        note = "what each save writes anew"
        out.add(Change(place, "changed", "property", details=details, note=note))


def _property_parts(version: DocxVersion) -> Iterator[str]:
    for relation in version.package.relations(""):
        kind = relation.kind.replace("-", "").lower()
        if kind in _PROPERTY_KINDS and relation.target in version.package:
            yield relation.target


def _properties(version: DocxVersion) -> dict[tuple[bool, str], str]:
    """Return the properties that people know by name; those that people named are apart."""
    found = {(False, "kind"): version.identity.type.rpartition(".")[2]}
    for part in _property_parts(version):
        version.parts.reached.add(part)
        try:
            data = version.package.read(part)
            with reading_errors(version.name):
                root = xml_root(transitional(data), version.name)
        except FileReadFailed:
            found[False, f"part {part}"] = version.parts.part(part).hex()
            continue
        for element in root:
            custom, own = element.get("name"), local_name(element)
            texts = (str(each).strip() for each in element.itertext())
            text = ", ".join(each for each in texts if each)
            if custom and text:
                found[True, custom] = text
            elif own and own not in _COUNTED and text:
                found[False, _NAMES.get(own, own)] = text
    return found


def compare_parts(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    """Add the parts that differ and were interpreted nowhere; called when all else was."""
    known = {version.main for version in (before, after)}
    for version in (before, after):
        for kind in _INTERPRETED:
            known.add(version.document.part(kind))
    reached = before.parts.reached | after.parts.reached | known
    old, new = _other_parts(before, reached), _other_parts(after, reached)
    # A part that has another name than before has changed for nobody.
    gone = Counter(digest() for name, digest in old.items() if name not in new)
    come = Counter(digest() for name, digest in new.items() if name not in old)
    renamed = gone & come
    waiting = [Counter(renamed), Counter(renamed)]
    for name in sorted({*old, *new}):
        if name in old and name in new and _is_same(before, after, name, name):
            continue
        was = old[name]() if name in old else None
        now = new[name]() if name in new else None
        place = part_place(name)
        if was is not None and now is not None:
            if was != now:
                facts = _facts(before, name), _facts(after, name)
                out.add(Change(place, "changed", "part", *facts))
        elif was is not None:
            if not _take(waiting[0], was):
                out.add(Change(place, "removed", "part", before=_facts(before, name)))
        elif now is not None and not _take(waiting[1], now):
            out.add(Change(place, "added", "part", after=_facts(after, name)))


def _is_same(before: DocxVersion, after: DocxVersion, part: str, other: str) -> bool:
    """Whether a part has the same bytes in both versions, and the same relations."""
    for name, twin in ((part, other), (relations_part(part), relations_part(other))):
        if (name in before.package) != (twin in after.package):
            return False
        if name in before.package:
            old, new = before.package.entry(name), after.package.entry(twin)
            sizes = {(each.CRC, each.file_size, each.compress_type) for each in (old, new)}
            if len(sizes) > 1 or before.package.packed(old) != after.package.packed(new):
                return False
    return True


def _take(waiting: Counter[bytes], digest: bytes) -> bool:
    """Take one of a digest out of a count; return whether there was one."""
    has_one = waiting[digest] > 0
    waiting[digest] -= has_one
    return has_one


def _other_parts(version: DocxVersion, reached: set[str]) -> Mapping[str, Callable[[], bytes]]:
    """Return what makes the digests of the parts that nothing has interpreted, by name."""
    keys = {each.casefold() for each in reached}
    found = {}
    for entry in version.package.entries:
        name = entry.filename.replace("\\", "/").lstrip("/")
        is_written_anew = name.endswith((".rels", "/")) or name == "[Content_Types].xml"
        if not is_written_anew and name.casefold() not in keys:
            found[name] = lambda name=name: version.parts.part(name)
    return found


def _facts(version: DocxVersion, part: str) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    try:
        with version.package.open(part) as file:
            while block := file.read(1 << 20):
                digest.update(block)
                size += len(block)
    except FileReadFailed:
        return {"is_damaged": True}
    return {"size_bytes": size, "sha256": digest.hexdigest()}
