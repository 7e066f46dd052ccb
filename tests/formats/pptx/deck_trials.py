"""What is tried on one real deck beside the judge's edits: texts and a slide, by the tree of XML.

Every function here takes one file and is run in a child.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from lxml import etree

from deck_edits import edit
from deck_judge import DeckFile, changed_parts, tree_without
from fidelity_figures import Verdict
from kbd.errors import FileReadFailed, ValidationFailed

__all__ = ["slide_added", "texts_written"]


def written_shapes(root: etree._Element, *texts: str) -> list[etree._Element]:
    """Return the shapes that hold texts in paragraphs of their own."""
    found = []
    for shape in root.iter("{*}sp"):
        held = {
            "".join(each.text or "" for each in paragraph.iter("{*}t"))
            for paragraph in shape.iter("{*}p")
        }
        if held & set(texts):
            found.append(shape)
    return found


def named(
    root: etree._Element, *only: etree._Element
) -> list[tuple[tuple[str, str, int], etree._Element]]:
    """Return shapes by id, name, and how many before them have both: real decks have such."""
    found = []
    counts: Counter[tuple[str, str]] = Counter()
    for shape in root.iter("{*}sp"):
        told = shape.find("{*}nvSpPr/{*}cNvPr")
        key = ("", "") if told is None else (told.get("id", ""), told.get("name", ""))
        counts[key] += 1
        if not only or any(shape is each for each in only):
            found.append(((*key, counts[key]), shape))
    return found


def trial(path: Path, *operations: dict[str, Any]) -> DeckFile | Verdict:
    """Edit a file; return the result, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"out{path.suffix}"
        try:
            edit(path, *operations, to=out)
        except (FileReadFailed, ValidationFailed) as error:
            return Verdict("refused", (error.message,))
        return DeckFile(out)


def texts_written(path: Path) -> Verdict:
    """Give slide 0 a title and bullets: only that slide changes, and there only these shapes."""
    title, bullets = "A title by a test: <größer> & “so”", ["Punkt eins", "点二"]
    after = trial(
        path,
        {"op": "set_slide_text", "index": 0, "title": title},
        {"op": "append_bullets", "index": 0, "bullets": bullets},
    )  # fmt: skip
    if isinstance(after, Verdict):
        return after
    before = DeckFile(path)
    changed, new, gone = changed_parts(before, after)
    # The titles of slides stand there again, and their count.
    changed = {name for name in changed if name.lower() != "docprops/app.xml"}
    assert (len(changed), new, gone) == (1, set(), set()), (path.name, changed, new, gone)
    old, fresh = (each.root(next(iter(changed))) for each in (before, after))
    shapes = written_shapes(fresh, title, *bullets)
    assert 1 <= len(shapes) <= 2, path.name
    replaced = [shape for name, shape in named(old) if name in dict(named(fresh, *shapes))]
    assert tree_without(old, replaced) == tree_without(fresh, shapes), path.name
    return Verdict("exact")


def slide_added(path: Path) -> Verdict:
    """Add a slide: its part is new, the deck lists it, nothing else changes."""
    after = trial(path, {"op": "add_slide", "title": "T", "body": "one\ntwo"})
    if isinstance(after, Verdict):
        return after
    before = DeckFile(path)
    changed, new, gone = changed_parts(before, after)
    # The titles of slides stand there again, and their count.
    changed = {name for name in changed if name.lower() != "docprops/app.xml"}
    relations = [name for name in changed if name.endswith(".rels")]
    main = next(name for name in changed if name not in ("[Content_Types].xml", *relations))
    assert len(changed) == 3, (path.name, changed)
    assert (len(new), gone) == (2, set()), (path.name, new, gone)
    old, fresh = before.root(main), after.root(main)
    added = fresh.findall("{*}sldIdLst/{*}sldId")[-1]
    was = old.find("{*}sldIdLst")
    if was is None:
        # The deck had no slides, and no list of them.
        gone_from = [fresh.find("{*}sldIdLst")]
    else:
        listed = [each for each in fresh.iter("{*}sldId") if each.get("id") == added.get("id")]
        gone_from = [each for each in listed if each is not None]
    kept = [each for each in gone_from if each is not None]
    assert tree_without(old, []) == tree_without(fresh, kept), path.name
    for name, count in (("[Content_Types].xml", 1), (relations[0], 1)):
        assert len(after.root(name)) == len(before.root(name)) + count, path.name
    return Verdict("exact")
