"""Decks that LibreOffice made of real ones are read as those are."""

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import KbdError
from kbd.formats import Region, Source
from kbd_odp import OdpFormat
from kbd_pptx import PptxFormat

pytestmark = [pytest.mark.corpora, pytest.mark.libreoffice]

SAMPLE_SEED = 24
NEAR_INCHES = 0.05
"""LibreOffice places shapes to the hundredth of a millimeter, and grows some to fit their text."""

_WORD = re.compile(r"[^\W\d]\w{2,}")
"""No figures: LibreOffice rounds those of charts, which are stored with errors of one bit."""

_LABELS = {"Sound", "film", "Diagram", "column", "maybe", "hidden", "Embedded", "object", "bar"}
"""Words of labels, which differ where LibreOffice makes something else of a shape."""


def converted(folder: Path, files: list[Path]) -> list[tuple[Path, Path]]:
    """Have files converted; those of which nothing came are left out."""
    profile = (folder / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "odp"]
    for start in range(0, len(files), 15):
        subprocess.run(
            [*command, "--outdir", folder, *files[start : start + 15]],
            check=False, capture_output=True, timeout=300,
        )  # fmt: skip
    made = [(path, folder / f"{path.stem}.odp") for path in files]
    return [pair for pair in made if pair[1].exists()]


def words(handler: Any, source: Source, count: int) -> set[str]:
    """The words of all slides."""
    texts = [handler.read(source, Region(slide_index=index)).text for index in range(count)]
    return set(_WORD.findall("\n".join(texts))) - _LABELS


def places(slides: list[dict[str, Any]]) -> Iterator[tuple[int, str, list[float]]]:
    """Where shapes are, of those whose names are theirs alone on a slide."""
    for slide in slides:
        shapes = slide.get("shapes", ())
        names = [each["name"] for each in shapes]
        for each in shapes:
            if "left" in each and names.count(each["name"]) == 1:
                sides = [each[side] for side in ("left", "top", "width", "height")]
                yield slide["index"], each["name"], sides


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(14, marks=[pytest.mark.full]),
        pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
def test_converted_decks_are_read_as_their_originals(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    """As many slides, nearly all words, and shapes where they are there."""
    found = sorted(path for path in corpora.glob("pptx/*.pptx") if path.stat().st_size < 300_000)
    chosen = random.Random(SAMPLE_SEED).sample(found, min(size, len(found)))
    compared = lost = all_words = near = shapes = 0
    odd = []
    for path, made in converted(tmp_path, chosen):
        source, other = Source(path, path.name), Source(made, made.name)
        try:
            wanted = PptxFormat().map(source)
        except KbdError:
            continue
        shown = OdpFormat().map(other)
        if wanted["slide_count"] == 0:
            # A deck without slides gets one from LibreOffice.
            continue
        assert shown["slide_count"] == wanted["slide_count"], path.name
        before = words(PptxFormat(), source, wanted["slide_count"])
        missing = before - words(OdpFormat(), other, shown["slide_count"])
        compared += 1
        lost += len(missing)
        all_words += len(before)
        there = {(index, name): sides for index, name, sides in places(shown["slides"])}
        for index, name, sides in places(wanted["slides"]):
            if (index, name) in there:
                shapes += 1
                pairs = zip(sides, there[index, name], strict=True)
                near += all(abs(one - two) <= NEAR_INCHES for one, two in pairs)
        if len(missing) > 0.05 * len(before) + 1:
            odd.append(f"{path.name}: {len(missing)} of {len(before)}: {sorted(missing)[:8]}")
    with capsys.disabled():
        print(f"\n{compared} decks, {lost} of {all_words} words missing, "
              f"{near} of {shapes} shapes in place", *odd, sep="\n")  # fmt: skip
    assert compared >= 0.8 * len(chosen)
    assert lost <= 0.02 * all_words
    assert near >= 0.8 * shapes
    assert len(odd) <= 0.05 * compared + 1
