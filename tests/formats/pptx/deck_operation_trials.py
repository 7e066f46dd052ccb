"""What is tried with one operation on one real deck, and all that is found wrong with it.

Run in a child: a deck may make a library hang.
"""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pptx
from lxml import etree

from deck_edits import FORMAT, operations
from deck_judge import DeckFile, changed_parts, tree_without
from deck_operation_choices import ALLOWED, CHOICES, DeckFacts
from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import Applied, CompareOptions, Source
from small_pictures import png

__all__ = ["SLOW_S", "DeckTrial", "tried_on_deck"]

SLOW_S = 20
"""How long one call may take on a real deck."""

_COUNTED = ("[content_types].xml", "docprops/app.xml")
_RELATED = re.compile(r"(.*/)?_rels/([^/]*)\.rels")
_REL = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_SHAPES = ("sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart")
_LONG = 12
"""Characters of a text that is not to be found again by chance."""
_OF_LIST = ("duplicate_slide", "delete_slide")
_OF_ALL = ("set_layout",)


class DeckTrial(NamedTuple):
    """What came of an operation: applied, refused, none to address, no deck; and findings."""

    outcome: str
    reason: str = ""
    findings: tuple[str, ...] = ()
    seconds: float = 0
    operation: str = ""


def tried_on_deck(task: tuple[Path, str, Path | None]) -> DeckTrial:
    """Apply an operation to a copy of a deck and look at the result from all sides.

    Args:
        task: The deck, the operation's name, and where the result is kept, if so.
    """
    path, op, kept = task
    try:
        facts = DeckFacts(path)
    except KbdError:
        return DeckTrial("unreadable")
    chosen = CHOICES[op](facts)
    if chosen is None:
        return DeckTrial("none")
    operation = {"op": op, **chosen}
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "picture.png")
        picture.write_bytes(png(160, 90))
        once = Path(folder, f"once{path.suffix}")
        started = time.monotonic()
        try:
            applied_to(path, operation, once, picture)
        except (ValidationFailed, FileReadFailed) as error:
            return DeckTrial("refused", error.message, operation=str(operation))
        seconds = time.monotonic() - started
        again = once.with_stem("again")
        applied_to(path, operation, again, picture)
        findings = [] if again.read_bytes() == once.read_bytes() else ["other bytes again"]
        if seconds > SLOW_S:
            findings.append(f"slow: {seconds:.0f} s")
        before, after = DeckFile(path), DeckFile(once)
        findings += list(_parts(before, after, operation))[:4]
        findings += list(_texts_and_shapes(before, after, operation))[:4]
        findings += list(_left_in_bytes(before, after, operation))[:3]
        findings += _review(path, once, operation)
        if _is_opened(path) and not _is_opened(once):
            findings.append("python-pptx does not open it")
        findings += _on_top(once, picture)
        if kept is not None:
            kept.write_bytes(once.read_bytes())
    return DeckTrial("applied", "", tuple(findings), seconds, str(operation))


def applied_to(path: Path, operation: Mapping[str, Any], to: Path, picture: Path) -> Applied:
    """Apply one operation to a deck."""
    source, found = Source(path, path.name), operations(dict(operation))
    if "image" in operation:
        files = {"picture.png": Source(picture, picture.name)}
        return FORMAT.apply_with_files(source, found, to, files)
    return FORMAT.apply(source, found, to)


def _relations(deck: DeckFile, part: str) -> list[tuple[str, str, str]]:
    """The ids, kinds and targets of a part's relations; targets as names of entries."""
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    actual = next((each for each in deck.entries if each.lower() == rels.lower()), None)
    if actual is None:
        return []
    found = []
    for element in deck.root(actual):
        target = element.get("Target", "")
        kind = element.get("Type", "").rpartition("/")[2]
        if element.get("TargetMode") != "External":
            base = [] if target.startswith("/") or not folder else folder.split("/")
            for piece in target.lstrip("/").split("/"):
                if piece == "..":
                    base = base[:-1]
                elif piece != ".":
                    base = [*base, piece]
            target = "/".join(base)
        found.append((element.get("Id", ""), kind, target))
    return found


def _main(deck: DeckFile) -> str:
    return next(target for _, kind, target in _relations(deck, "") if kind == "officeDocument")


def _slide_parts(deck: DeckFile) -> list[str]:
    """The parts of the slides, in order."""
    main = _main(deck)
    names = {name.lower(): name for name in deck.entries}
    targets = {id_: target for id_, _, target in _relations(deck, main)}
    root = deck.root(names.get(main.lower(), main))
    found = []
    for entry in root.iterfind("{*}sldIdLst/{*}sldId"):
        id_ = next((v for k, v in entry.items() if str(k).endswith("}id")), "")
        target = targets.get(str(id_), "")
        found.append(names.get(target.lower(), target))
    return found


def _parts(before: DeckFile, after: DeckFile, operation: Mapping[str, Any]) -> Iterator[str]:
    """Parts that differ, came or went, and should not have."""
    op = operation["op"]
    allowed = ALLOWED[op]
    changed, _, gone = changed_parts(before, after)
    slide = _slide_parts(before)[operation["index"]].lower()
    main = _main(before).lower()
    for name in sorted(changed):
        lower = name.lower()
        related = _RELATED.fullmatch(lower)
        about = f"{related[1] or ''}{related[2]}" if related else lower
        is_listed = about == main and (op in _OF_LIST)
        if lower in _COUNTED or about == slide or is_listed:
            continue
        if not re.fullmatch(allowed.parts, name):
            yield f"part changed: {name}"
    for name in sorted(gone):
        if not re.fullmatch(allowed.gone, name):
            yield f"part gone: {name}"
    names = {f"/{name.lower()}" for name in after.entries}
    known = {f"/{name.lower()}" for name in before.entries}
    types = next(name for name in after.entries if name.lower() == "[content_types].xml")
    old_types = next(name for name in before.entries if name.lower() == "[content_types].xml")
    dangling = {(e.get("PartName") or "").lower() for e in before.root(old_types)} - known
    for entry in after.root(types):
        part = (entry.get("PartName") or "").lower()
        if part and part not in names and part not in dangling:
            yield f"a type of a part that is not there: {part}"


def _shape_texts(root: etree._Element) -> Counter[str]:
    return Counter(
        text for each in root.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}t",
                                   "{http://purl.oclc.org/ooxml/drawingml/main}t")
        if (text := (each.text or "").strip())
    )  # fmt: skip


def _texts_and_shapes(
    before: DeckFile, after: DeckFile, operation: Mapping[str, Any]
) -> Iterator[str]:
    """Texts that were lost, and shapes of the slide that differ and were not named."""
    op, index = operation["op"], operation["index"]
    olds, news = _slide_parts(before), _slide_parts(after)
    if op == "delete_slide":
        if len(news) != len(olds) - 1:
            yield "not one slide fewer"
        return
    old, new = before.root(olds[index]), after.root(news[index])
    if op == "duplicate_slide":
        if before.entries[olds[index]] != after.entries[news[index]]:
            yield "the original is another one"
        yield from _unlike(before, olds[index], after, news[index + 1])
        return
    lost = _shape_texts(old) - _shape_texts(new)
    if lost and op not in ("set_table_cells", "delete_table_rows"):
        yield f"texts lost: {list(lost)[:3]}"
    if op == "set_table_cells" and sum(lost.values()) > _MOST_RUNS:
        yield f"more than a cell's texts lost: {list(lost)[:3]}"
    if op not in _OF_ALL:
        named = {str(operation[key]) for key in ("table", "chart", "shape") if key in operation}
        yield from _other_shapes(old, new, named)


def _unlike(before: DeckFile, old: str, after: DeckFile, new: str) -> Iterator[str]:
    """How a copy of a slide is not like it: its texts, and what it is related to."""
    if _shape_texts(before.root(old)) != _shape_texts(after.root(new)):
        yield "the copy has other texts"
    kinds = [
        {(kind, target if kind in ("image", "slideLayout") else "") for _, kind, target in found}
        for found in (_relations(before, old), _relations(after, new))
    ]
    lacking = {kind for kind, _ in kinds[0] - kinds[1]} - {"comments"}
    if lacking:
        yield f"the copy lacks {sorted(lacking)}"
    own = ("chart", "notesSlide", "oleObject", "package", "diagramData")
    now = {target for _, kind, target in _relations(after, new) if kind in own}
    shared = now & {target for _, _, target in _relations(before, old)}
    if shared:
        yield f"the copy shares {sorted(shared)}"


def _other_shapes(old: etree._Element, new: etree._Element, named: set[str]) -> Iterator[str]:
    """Shapes of a slide that differ or went, but for those that an operation names."""
    kept = dict(_shapes(new))
    for key, shape in _shapes(old):
        inner = {each.get("id", "") for each in shape.iter("{*}cNvPr")}
        if inner & named:
            continue
        if key not in kept:
            if not _is_empty_place(shape):
                yield f"a shape went: {key}"
        elif _plain(shape) != _plain(kept[key]):
            yield f"a shape that was not named differs: {key}"


_MOST_RUNS = 60
"""Runs of one cell, at most."""


def _is_empty_place(shape: etree._Element) -> bool:
    return shape.find(".//{*}nvPr/{*}ph") is not None and not _shape_texts(shape)


def _shapes(root: etree._Element) -> Iterator[tuple[tuple[str, str, int], etree._Element]]:
    """The shapes that stand directly on a slide, by id, name, and how many have both before."""
    counts: Counter[tuple[str, str]] = Counter()
    for shape in root.iterfind("{*}cSld/{*}spTree/*"):
        if isinstance(shape.tag, str) and etree.QName(shape).localname in _SHAPES:
            told = shape.find("./*/{*}cNvPr")
            key = ("", "") if told is None else (told.get("id", ""), told.get("name", ""))
            counts[key] += 1
            yield (*key, counts[key]), shape


def _plain(shape: etree._Element) -> bytes:
    copy = etree.fromstring(etree.tostring(shape, with_tail=False))
    return tree_without(copy, [])


def _part_texts(deck: DeckFile, part: str) -> set[str]:
    """The long texts of a part, of whatever it calls them."""
    if not part.lower().endswith((".xml", ".vml")) or part not in deck.entries:
        return set()
    try:
        root = deck.root(part)
    except etree.LxmlError:
        return set()
    texts = (" ".join((each.text or "").split()) for each in root.iter())
    return {text for text in texts if len(text) >= _LONG}


def _left_in_bytes(
    before: DeckFile, after: DeckFile, operation: Mapping[str, Any]
) -> Iterator[str]:
    """Texts that were deleted and stand in the bytes of the result all the same."""
    op, index = operation["op"], operation["index"]
    if op not in ("delete_slide", "delete_table_rows", "set_table_cells"):
        return
    slide = _slide_parts(before)[index]
    if _slide_parts(before).count(slide) > 1:
        return
    own = {slide}
    if op == "delete_slide":
        own |= {
            target
            for _, kind, target in _relations(before, slide)
            if kind in ("notesSlide", "comments", "chart", "diagramData")
        }
    names = {name.lower(): name for name in before.entries}
    texts = {text for part in own for text in _part_texts(before, names.get(part.lower(), part))}
    if op != "delete_slide":
        # What another shape of the slide says stays, also within a longer text.
        stays = "\n".join(_part_texts(after, slide))
        texts = {text for text in texts if text not in stays}
    titles = (" ".join("".join(map(str, e.itertext())).split()) for e in _titles(before, slide))
    if op == "delete_slide":
        texts |= {each for each in titles if len(each) >= _LONG}
    gone = {each.lower() for each in own}
    # What stood elsewhere, too, stays there; but a list of titles is made of the slides.
    elsewhere = b"\n".join(
        data
        for part, data in before.entries.items()
        if part.lower() not in gone and part.lower() != "docprops/app.xml"
    )
    wanted = [text for text in texts if text.encode() not in elsewhere]
    for part, data in after.entries.items():
        # Of the properties whole texts count: names of elements hold words, too.
        around = ">{}<" if part.lower() == "docprops/app.xml" else "{}"
        held = [text for text in wanted if around.format(text).encode() in data]
        # The title of the whole deck is its own.
        if held and part.lower() != "docprops/core.xml":
            yield f"left in the bytes of {part}: {held[0][:50]!r}"


def _titles(deck: DeckFile, slide: str) -> Iterator[etree._Element]:
    if slide not in deck.entries:
        return
    for shape in deck.root(slide).iter("{*}sp"):
        place = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        if place is not None and place.get("type") in ("title", "ctrTitle"):
            yield from shape.iterfind("{*}txBody")


def _review(path: Path, once: Path, operation: Mapping[str, Any]) -> list[str]:
    """What the review names and should not, or does not name."""
    allowed = ALLOWED[operation["op"]]
    found = FORMAT.compare(Source(path, path.name), Source(once, once.name), CompareOptions())
    named = [f"{each.what} {each.kind} {each.place.title}" for each in found.changes]
    wrong = [
        f"review names {text}"
        for text in named
        if not re.match(rf"(?:{allowed.named}|{allowed.also}) ", text)
    ]
    if not any(re.match(rf"(?:{allowed.named}) ", text) for text in named):
        wrong.append(f"review does not name it: {named[:3]}")
    index = operation["index"]
    if operation["op"] not in _OF_LIST:
        here = f"slide {index + 1}"
        wrong += [
            f"review names another place: {text}"
            for text in named
            if here.casefold() not in text.casefold()
        ]
    return wrong[:3]


def _is_opened(path: Path) -> bool:
    """Whether python-pptx opens a deck and walks its slides."""
    try:
        for slide in pptx.Presentation(str(path)).slides:
            for shape in slide.shapes:
                _ = shape.shape_type if shape.has_chart else shape.name
    except Exception:  # noqa: BLE001 - it raises anything
        return False
    return True


def _on_top(once: Path, picture: Path) -> list[str]:
    """Whether another edit goes on top, and changes that slide alone."""
    twice = once.with_stem("twice")
    try:
        if not FORMAT.info(Source(once, once.name))["slide_count"]:
            return []
        notice = {"op": "add_textbox", "index": 0, "text": "on top", "left": 1, "top": 1}
        applied_to(once, notice, twice, picture)
    except KbdError as error:
        return [f"second edit: {error.message}"]
    changed, _, gone = changed_parts(DeckFile(once), DeckFile(twice))
    slide = _slide_parts(DeckFile(once))[0]
    return [f"second edit: {each}" for each in sorted((changed - {slide}) | gone)][:2]
