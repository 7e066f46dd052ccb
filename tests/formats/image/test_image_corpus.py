"""Real pictures: each is told and shown, or refused in words."""

import contextlib
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed
from kbd.formats import Region, Source
from kbd_image import ImageFormat

IMAGE = ImageFormat()

pytestmark = pytest.mark.corpora


def test_every_picture_is_told_and_shown(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two are damaged so that nothing is known of them, and one more has no pixels."""
    paths = sorted((corpora / "image").iterdir())
    assert len(paths) >= 150
    told = shown = 0
    for path in paths:
        source = Source(path, path.name)
        with contextlib.suppress(FileReadFailed):
            facts = IMAGE.info(source)
            told += 1
            assert min(facts["width"], facts["height"]) > 0
            assert f"format: {facts['format']}\n" in IMAGE.read(source, Region()).text
            preview = IMAGE.preview(source, 0, 64)
            shown += 1
            assert max(preview.width, preview.height) <= 64
    with capsys.disabled():
        print(f"\nimage: {told} of {len(paths)} told, {shown} shown", end="")
    assert told >= len(paths) - 2
    assert shown >= len(paths) - 3
