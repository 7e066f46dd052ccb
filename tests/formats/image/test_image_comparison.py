"""Comparison of pictures: size, metadata, frames, and the pixels that differ."""

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from image_forge import chunk, saved, svg
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Change, CompareOptions, Place, Source
from kbd_image import ImageFormat
from kbd_image.comparison import compare

IMAGE = ImageFormat()


def written(folder: Path, name: str, data: bytes) -> Source:
    path = folder / name
    path.write_bytes(data)
    return Source(path, name)


def picture(size: tuple[int, int] = (100, 50), color: str = "white") -> Image.Image:
    return Image.new("RGB", size, color)


def changes(before: Source | None, after: Source | None) -> tuple[Change, ...]:
    return IMAGE.compare(before, after, CompareOptions()).changes


def told(found: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.what, each.place.title) for each in found]


def test_pixels_that_differ_are_counted_and_framed(tmp_path: Path) -> None:
    """The share of pixels is told, and the smallest box around them."""
    other = picture()
    other.paste((250, 255, 255), (10, 20, 15, 24))
    before = written(tmp_path, "a.png", saved(picture(), "PNG"))
    after = written(tmp_path, "b.png", saved(other, "PNG"))

    (change,) = changes(before, after)

    assert (change.kind, change.what, change.place.title) == ("changed", "picture", "picture")
    assert change.details == {
        "differing_share": (0.0, 0.004),
        "differing_box": (None, {"left": 10, "top": 20, "width": 5, "height": 4}),
    }
    assert change.note.startswith("0.4 % of its pixels differ, by at most 5 of 255")


def test_the_same_picture_packed_otherwise_is_the_same(tmp_path: Path) -> None:
    """How hard a file is packed makes no difference."""
    noise = Image.effect_noise((64, 64), 80)
    before = written(tmp_path, "a.png", saved(noise, "PNG", compress_level=1))
    after = written(tmp_path, "b.png", saved(noise, "PNG", compress_level=9))

    assert before.path.read_bytes() != after.path.read_bytes()
    assert changes(before, after) == ()


def test_metadata_is_told_by_name(tmp_path: Path) -> None:
    """EXIF, texts, resolution, mode and size; where a picture was taken stays in the file."""
    exif = Image.Exif()
    exif[0x0110] = "Camera"
    gps: Any = exif.get_ifd(0x8825)
    gps[2] = (52.0, 31.0, 12.0)
    texts = PngInfo()
    texts.add_text("Comment", "made by hand")
    before = written(tmp_path, "a.png", saved(picture(), "PNG"))
    after = written(
        tmp_path,
        "b.png",
        saved(picture((100, 51)).convert("L"), "PNG", exif=exif, pnginfo=texts, dpi=(300, 300)),
    )

    found = {each.place.title: each for each in changes(before, after)}

    assert found["size"].after == {"width": 100, "height": 51}
    assert (found["property mode"].before, found["property mode"].after) == ("RGB", "L")
    assert found["property EXIF Model"].after == "Camera"
    assert found["property Comment"].after == "made by hand"
    assert found["property dpi"].kind == "added"
    assert "52" not in str(found["property EXIF GPS GPSLatitude"].after.keys())
    assert set(found["property EXIF GPS GPSLatitude"].after) == {"size_bytes", "sha256"}
    for title, change in found.items():
        assert IMAGE.locate(after, title) == change.place


def test_frames_are_followed(tmp_path: Path) -> None:
    """A frame that is new is one change; one that differs is named by its number."""
    colors = ["red", "green", "blue", "white"]
    before = [picture((20, 20), color) for color in colors]
    after = [picture((20, 20), color) for color in ("red", "black", "green", "blue")]
    after[3].putpixel((1, 1), (9, 9, 9))
    paths = [
        written(tmp_path, name, saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
        for name, frames in (("a.tif", before), ("b.tif", after))
    ]

    found = changes(*paths)

    assert told(found) == [
        ("added", "frame", "frame 2"), ("changed", "frame", "frame 4"),
        ("removed", "frame", "frame 4"),
    ]  # fmt: skip
    places = tuple(IMAGE.locate(paths[0], f"frame {number}") for number in (1, 2, 3, 4))
    traces = IMAGE.trace(paths[0], paths[1], places, forward=True)
    assert [each.place and each.place.page for each in traces] == [1, 3, 4, None]
    assert [each.is_changed for each in traces] == [False, False, True, False]


def test_markup_is_compared_by_lines(tmp_path: Path) -> None:
    """Of svg files the lines that differ are told, with their words."""
    before = written(tmp_path, "a.svg", svg('width="9" height="9"', "\n<text>red</text>\n"))
    after = written(tmp_path, "b.svg", svg('width="9" height="8"', "\n<text>blue</text>\n"))

    found = changes(before, after)

    assert told(found)[-1] == ("changed", "line", "line 2")
    assert ("changed", "size", "size") in told(found)
    assert ("removed", "red") in found[-1].words
    assert IMAGE.locate(before, "line 2").line == 2


def test_a_new_and_a_deleted_picture_are_one_change(tmp_path: Path) -> None:
    """Without the other version it is told what the picture is."""
    source = written(tmp_path, "a.png", saved(picture(), "PNG"))

    (added,), (removed,) = changes(None, source), changes(source, None)

    assert added.after == removed.before == {
        "format": "PNG", "width": 100, "height": 50, "frames": 1
    }  # fmt: skip


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    """Damaged files, places that are not there, and options."""
    good = written(tmp_path, "a.png", saved(picture(), "PNG"))
    bad = written(tmp_path, "b.png", b"\x89PNG\r\n\x1a\nnothing")

    for pair in ((good, bad), (bad, good), (None, bad)):
        with pytest.raises(FileReadFailed):
            changes(*pair)
    with pytest.raises(ValidationFailed, match="takes no sheet"):
        IMAGE.compare(good, good, CompareOptions(sheet="x"))
    for text in ("frame 2", "line 1", "property none", ""):
        with pytest.raises(ValidationFailed):
            IMAGE.locate(good, text)
    (trace,) = IMAGE.trace(good, good, (Place("frame 7", page=7),), forward=True)
    assert trace.place is None


def test_a_truncated_picture_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    """What is missing is black, and the reader is told so."""
    data = saved(Image.effect_noise((300, 300), 80), "JPEG", quality=95)
    before = written(tmp_path, "a.jpg", data)
    after = written(tmp_path, "b.jpg", data[: len(data) // 2])

    found = IMAGE.compare(before, after, CompareOptions())

    assert ("changed", "picture", "picture") in told(found.changes)
    assert any("is damaged" in warning for warning in found.warnings)


@pytest.mark.full
@pytest.mark.corpora
def test_every_picture_is_like_itself(corpora: Path, tmp_path: Path) -> None:
    """A byte behind the end of a file that decodes makes no difference."""
    compared = 0
    for path in sorted((corpora / "image").iterdir()):
        if path.suffix == ".svg":
            continue
        source = Source(path, path.name)
        other = written(tmp_path, f"other{path.suffix}", path.read_bytes() + b"\n")
        try:
            found = IMAGE.compare(source, other, CompareOptions())
        except FileReadFailed:
            continue
        compared += 1
        assert found.changes == () or found.warnings, path.name
    assert compared > 120


def _trailed(text: bytes) -> bytes:
    data = saved(picture(), "PNG")
    return data[:-12] + chunk(b"tEXt", b"date\0" + text) + data[-12:]


def _described(text: str) -> bytes:
    exif = Image.Exif()
    exif[0x010E] = text
    return saved(picture(), "JPEG", exif=exif)


def _captioned(text: bytes) -> bytes:
    data = saved(picture(), "JPEG")
    record = b"\x1c\x02\x78" + struct.pack(">H", len(text)) + text
    block = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(record)) + record
    return data[:2] + b"\xff\xed" + struct.pack(">H", len(block) + 2) + block + data[2:]


@pytest.mark.parametrize(
    ("name", "before", "after", "title"),
    [
        ("a.png", _trailed(b"2020"), _trailed(b"2021"), "property date (behind the pixels)"),
        (
            "a.jpg",
            _described("x" * 600),
            _described("x" * 600 + "y"),
            "property EXIF ImageDescription",
        ),
        ("a.jpg", _captioned(b"one"), _captioned(b"two"), "property IPTC and Photoshop"),
        (
            "a.tif",
            saved(Image.new("CMYK", (8, 8), (0, 0, 0, 255)), "TIFF"),
            saved(Image.new("CMYK", (8, 8), (255, 255, 255, 255)), "TIFF"),
            "picture",
        ),
    ],
)
def test_what_pillow_shows_late_or_not_at_all_is_compared(
    tmp_path: Path, name: str, before: bytes, after: bytes, title: str
) -> None:
    """Texts behind the pixels, the end of long ones, captions, and inks that look the same."""
    paths = written(tmp_path, f"1{name}", before), written(tmp_path, f"2{name}", after)

    (change,) = changes(*paths)

    assert change.place.title == title
    assert IMAGE.locate(paths[1], title) == change.place


def test_lower_bits_that_are_not_read_are_warned_of(tmp_path: Path) -> None:
    """Pictures with 16 bits a channel are compared by the upper 8, and that is said."""

    def made(shade: int) -> bytes:
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0))
        pixels = chunk(b"IDAT", zlib.compress(b"\0" + struct.pack(">HHH", shade, shade, shade)))
        return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")

    paths = written(tmp_path, "a.png", made(0x1000)), written(tmp_path, "b.png", made(0x1001))
    found = IMAGE.compare(*paths, CompareOptions())

    assert found.total == 0
    assert any("more than 8 bits a channel" in each for each in found.warnings)


def test_markup_past_what_is_compared_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a very long svg file is left out, and that is said beside what differs."""
    monkeypatch.setattr(compare, "MAX_MARKUP_CHARACTERS", 200)
    markup = [svg("", f"\n<a id='{n}'/>\n" + "<g/>\n" * 90) for n in range(2)]
    paths = written(tmp_path, "a.svg", markup[0]), written(tmp_path, "b.svg", markup[1])
    found = IMAGE.compare(*paths, CompareOptions())

    assert found.total == 1
    assert found.warnings == tuple(
        f"Of {name} the first 200 characters were compared." for name in ("a.svg", "b.svg")
    )
