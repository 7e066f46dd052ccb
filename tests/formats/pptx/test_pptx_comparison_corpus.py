"""Comparison of real decks: none differs from itself, and operations are found where they were."""

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from compared_decks import changes_of, compared, rewritten, source, written_otherwise
from deck_edits import FORMAT, edit
from kbd.errors import FileReadFailed, KbdError

EVERY = 24
"""Of each so many decks `make test` compares one; `make test-full` compares all."""

MOST = 8
"""Places of one deck that are looked up by their titles."""


def decks(corpora: Path, start: int = 0, every: int = 1) -> list[Path]:
    """Those of each `every`th deck, from one on, that can be opened; no other is looked at."""
    found = []
    for path in sorted((corpora / "pptx").iterdir())[start::every]:
        try:
            FORMAT.info(source(path))
        except FileReadFailed:
            continue
        found.append(path)
    return found


def unlike_themselves(paths: list[Path], folder: Path) -> list[Any]:
    """Return what a comparison finds in decks and the same written in other bytes."""
    wrong: list[Any] = []
    for path in paths:
        other = folder / path.name
        try:
            rewritten(path, other, written_otherwise)
        except (zipfile.BadZipFile, SyntaxError):
            continue
        wrong += [(path.name, each) for each in compared(path, other).changes]
        other.unlink()
    return wrong


@pytest.mark.corpora
def test_a_deck_is_like_itself(corpora: Path, tmp_path: Path) -> None:
    """Of a sample written again in other bytes nothing differs."""
    assert unlike_themselves(decks(corpora, 2, EVERY), tmp_path) == []


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.parametrize("part", range(4))
def test_every_deck_is_like_itself(corpora: Path, tmp_path: Path, part: int) -> None:
    """The same of all decks."""
    assert unlike_themselves(decks(corpora, part, 4), tmp_path) == []


def drawn(draw: random.Random, count: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield operations on a deck of so many slides, with the deck that they leave.

    The deck is a list: the index of a slide that was there with whether it was changed, or None for
    one that is new.
    """
    slides: list[Any] = [(index, False) for index in range(count)]
    may_delete = draw.random() < 0.5
    for number in range(draw.randint(1, 4)):
        at = draw.randrange(len(slides))
        text = f"T{number} {draw.random()}"
        match draw.choice(("write", "move", "notes", "delete" if may_delete else "add")):
            case "write":
                operation = {"op": "set_slide_text", "index": at, "title": text}
                slides[at] = slides[at] and (slides[at][0], True)
            case "notes":
                operation = {"op": "set_notes", "index": at, "text": text}
                slides[at] = slides[at] and (slides[at][0], True)
            case "move":
                to = draw.randrange(len(slides))
                operation = {"op": "move_slide", "index": at, "to": to}
                slides.insert(to, slides.pop(at))
            case "add":
                operation = {"op": "add_slide", "index": at, "title": text}
                slides.insert(at, None)
            case _:
                if len(slides) == 1:
                    continue
                operation = {"op": "delete_slide", "index": at}
                slides.pop(at)
        yield operation, list(slides)


def edited(path: Path, out: Path, draw: random.Random) -> list[Any] | None:
    """Apply drawn operations to a deck; return the slides that it has then, None if it refuses."""
    found = list(drawn(draw, FORMAT.info(source(path))["slide_count"] or 1))
    if not found:
        return None
    try:
        edit(path, *(operation for operation, _ in found), to=out)
    except KbdError:
        return None
    return list(found[-1][1])


def check_slides(path: Path, out: Path, slides: list[Any]) -> None:
    """See that a comparison names exactly the slides that operations changed."""
    found = [each for each in changes_of(path, out) if each.place.slide is not None]
    whole = [each for each in found if each.what == "slide"]
    come = {each.place.slide for each in whole if each.kind == "added"}
    gone = {each.place.slide for each in whole if each.kind == "removed"}
    moved = {
        each.place.slide: each.moved_from.slide
        for each in whole
        if each.kind == "moved" and each.moved_from is not None
    }
    there = [slide[0] for slide in slides if slide]
    count = FORMAT.info(source(path))["slide_count"]

    assert come == {at for at, slide in enumerate(slides) if slide is None}, path.name
    assert gone == set(range(count)) - set(there), path.name
    assert all(slides[at or 0][0] == was for at, was in moved.items()), path.name
    rest = [slide[0] for at, slide in enumerate(slides) if slide and at not in moved]
    assert rest == sorted(rest), path.name
    # A slide loses its links to one that is deleted.
    now = {slide[0]: at for at, slide in enumerate(slides) if slide}
    touched = {
        now[each.place.slide or 0] if each.kind == "removed" else each.place.slide
        for each in found
        if each not in whole and each.what != "link"
    }
    assert touched == {at for at, slide in enumerate(slides) if slide and slide[1]}, path.name


def check_places(path: Path, out: Path) -> None:
    """See that each place that a comparison names is found by its title, and on both sides."""
    before, after = source(path), source(out)
    found = changes_of(path, out)
    # Each is looked for in a deck that is opened anew.
    for change in found[:MOST]:
        side = before if change.kind == "removed" else after
        assert FORMAT.locate(side, change.place.title) == change.place
    places = tuple(
        each.place for each in found if each.kind == "changed" and each.place.slide is not None
    )
    back = FORMAT.trace(before, after, places, forward=False)
    assert all(each.place and each.is_changed for each in back)
    there = tuple(each.place for each in back if each.place)
    forth = FORMAT.trace(before, after, there, forward=True)
    assert tuple(each.place for each in forth) == places


def compare_edited(paths: list[Path], out: Path) -> int:
    """Edit decks and compare them; return how many could be edited."""
    count = 0
    for number, path in enumerate(paths):
        target = out.with_suffix(path.suffix)
        slides = edited(path, target, random.Random(number))
        if slides is not None:
            count += 1
            check_slides(path, target, slides)
            check_places(path, target)
    return count


@pytest.mark.corpora
def test_operations_are_found(corpora: Path, tmp_path: Path) -> None:
    """The comparison of a sample with itself edited names the slides that were edited, no other."""
    assert compare_edited(decks(corpora, 5, EVERY), tmp_path / "out") > 5


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.parametrize("part", range(4))
def test_operations_on_all_decks_are_found(corpora: Path, tmp_path: Path, part: int) -> None:
    """The same of all decks."""
    assert compare_edited(decks(corpora, part, 4), tmp_path / "out") > 35


UNSEEN = (
    "cNvPr@id", "sldId@id", "sldMasterId@id", "sldLayoutId@id", "property@pid", "ext@uri", "@type",
    "@dirty", "@smtClean", "@err", "creationId@id", "@val", "off@", "ext@c", "endParaRPr@",
)  # fmt: skip
"""What no reader sees where it alone differs, or differs by less than a pixel."""


@pytest.mark.full
@pytest.mark.corpora
def test_whatever_differs_is_told(corpora: Path, tmp_path: Path) -> None:
    """One attribute or text of one part, whichever it is, is a change, but for what is unseen."""
    draw = random.Random(6)
    missed, tried = [], 0
    for path in draw.sample(decks(corpora), 60):
        with zipfile.ZipFile(path) as archive:
            names = [
                name
                for name in archive.namelist()
                if name.endswith(".xml") and not name.startswith(("[", "docProps/app"))
            ]
            name = draw.choice(names)
            root = etree.fromstring(archive.read(name))
        what = damage(root, draw)
        if what is None or any(each in what for each in UNSEEN):
            continue
        other = with_part(path, tmp_path / path.name, name, etree.tostring(root))
        tried += 1
        if not compared(path, other).total:
            missed.append((path.name, name, what))

    assert tried > 30
    assert missed == []


def with_part(path: Path, target: Path, name: str, data: bytes) -> Path:
    """Write a package again with other bytes for one part."""
    return rewritten(path, target, lambda part, old: data if part == name else old)


def damage(root: etree._Element, draw: random.Random) -> str | None:
    """Change an attribute or a text below a root; return which one."""
    elements = [
        each
        for each in root.iter()
        if isinstance(each.tag, str) and (each.attrib or (each.text or "").strip())
    ]
    element = draw.choice(elements)
    name = etree.QName(element).localname
    plain = sorted(key for key in element.attrib if not str(key).startswith("{"))
    if not plain:
        if not (element.text or "").strip():
            return None
        element.text = f"{element.text}x"
        return f"{name}#"
    key = str(draw.choice(plain))
    value = element.get(key, "")
    element.set(key, f"{value[:-1]}{(int(value[-1]) + 1) % 10}" if value[-1:].isdigit() else "x")
    return f"{name}@{key}"
