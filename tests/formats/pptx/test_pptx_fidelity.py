"""Real decks, edited: what no operation names is as it was, judged by zipfile and lxml."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree

from deck_edits import edit
from deck_judge import DeckFile, changed_parts, tree_without
from kbd.errors import FileReadFailed, KbdError, ValidationFailed

SAMPLE_SEED = 206
SAMPLE_SIZE = 16
SAMPLE_BYTES = 50_000
TYPES = "[Content_Types].xml"

pytestmark = pytest.mark.corpora

Outcome = tuple[str, str]
"""What came of a file: "exact", or "refused" with the reason."""


def files(corpora: Path) -> list[Path]:
    """All decks, hostile ones, too."""
    return sorted(path for path in corpora.glob("pptx/*") if path.is_file())


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


def trial(path: Path, out: Path, *operations: dict[str, Any]) -> DeckFile | Outcome:
    """Edit a file; return the result, or why there is none."""
    try:
        edit(path, *operations, to=out)
    except (FileReadFailed, ValidationFailed) as error:
        return "refused", error.message.replace(path.name, "F")
    return DeckFile(out)


def texts_written(path: Path, out: Path) -> Outcome:
    """Give slide 0 a title and bullets: only that slide changes, and there only these shapes."""
    title, bullets = "A title by a test: <größer> & “so”", ["Punkt eins", "点二"]
    after = trial(
        path, out,
        {"op": "set_slide_text", "index": 0, "title": title},
        {"op": "append_bullets", "index": 0, "bullets": bullets},
    )  # fmt: skip
    if isinstance(after, tuple):
        return after
    before = DeckFile(path)
    changed, new, gone = changed_parts(before, after)
    assert (len(changed), new, gone) == (1, set(), set()), (path.name, changed, new, gone)
    old, fresh = (each.root(next(iter(changed))) for each in (before, after))
    shapes = written_shapes(fresh, title, *bullets)
    assert 1 <= len(shapes) <= 2, path.name
    replaced = [shape for name, shape in named(old) if name in dict(named(fresh, *shapes))]
    assert tree_without(old, replaced) == tree_without(fresh, shapes), path.name
    return "exact", ""


def slide_added(path: Path, out: Path) -> Outcome:
    """Add a slide: its part is new, the deck lists it, nothing else changes."""
    after = trial(path, out, {"op": "add_slide", "title": "T", "body": "one\ntwo"})
    if isinstance(after, tuple):
        return after
    before = DeckFile(path)
    changed, new, gone = changed_parts(before, after)
    relations = [name for name in changed if name.endswith(".rels")]
    main = next(name for name in changed if name not in (TYPES, *relations))
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
    for name, count in ((TYPES, 1), (relations[0], 1)):
        assert len(after.root(name)) == len(before.root(name)) + count, path.name
    return "exact", ""


def reopened(path: Path, out: Path) -> None:
    """Check that python-pptx opens what it opened before."""
    try:
        pptx.Presentation(str(path))
    except Exception:  # noqa: BLE001 - it raises anything on what it does not know
        return
    assert [list(slide.shapes) for slide in pptx.Presentation(str(out)).slides], path.name


def run(paths: list[Path], tmp_path: Path) -> Counter[Outcome]:
    """Try all edits on all files."""
    counts: Counter[Outcome] = Counter()
    for path in paths:
        out = tmp_path / f"out{path.suffix}"
        for attempt in (texts_written, slide_added):
            outcome = attempt(path, out)
            counts[outcome] += 1
            if outcome[0] == "exact":
                reopened(path, out)
    return counts


def test_sample(corpora: Path, tmp_path: Path) -> None:
    """A sample by a fixed seed: nothing is lost, and nine of ten are edited."""
    small = [path for path in files(corpora) if path.stat().st_size <= SAMPLE_BYTES]
    counts = run(random.Random(SAMPLE_SEED).sample(small, SAMPLE_SIZE), tmp_path)

    assert counts["exact", ""] >= 0.9 * counts.total(), counts


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_every_deck(corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every deck of the corpora: nothing is lost; what is refused says why."""
    counts = run(files(corpora), tmp_path)
    with capsys.disabled():
        for (outcome, reason), count in sorted(counts.items()):
            print(f"{count:5} {outcome} {reason}")

    assert counts["exact", ""] >= 0.97 * counts.total()
    assert all(issubclass(kind, KbdError) for kind in (FileReadFailed, ValidationFailed))
