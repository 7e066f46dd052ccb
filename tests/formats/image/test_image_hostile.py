"""Pictures that are made to do harm: told or refused, in words and cheaply."""

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from confined import Confined, confined, opened
from image_forge import chunk, gif_of, png_claiming, saved, svg
from kbd_image import ImageFormat

ACTIONS = ("info", "map", "read", "passages", "preview")
MODEST_BYTES = 64 << 20
MODEST_S = 5.0

Build = Callable[[], bytes]


@pytest.fixture(scope="module")
def pictures() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(ImageFormat, ACTIONS) as found:
        yield found


def plain() -> bytes:
    """A harmless picture."""
    return saved(Image.new("RGB", (30, 20), "red"), "PNG")


def blanks(size: int) -> bytes:
    """Blanks, packed."""
    packer = zlib.compressobj(9)
    return packer.compress(bytes(1) * size) + packer.flush()


def webp_claiming(width: int, height: int) -> bytes:
    """A WEBP file of a size that its pixels are missing of."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + size
    body += b"ANIM" + struct.pack("<IIH", 6, 0, 0)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def bmp_claiming(width: int, height: int) -> bytes:
    """A BMP file of a size that its pixels are missing of."""
    about = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + about


def tiff(*entries: tuple[int, int, int, int], following: int = 0) -> bytes:
    """A TIFF file of entries: tag, kind, count, value."""
    body = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + body + struct.pack("<I", following)


TOLD: dict[str, Build] = {
    "a header of 900 megapixels": lambda: png_claiming(30_000, 30_000),
    "81 megapixels of nothing": lambda: png_claiming(9000, 9000, pixels=bytes(9001) * 9000),
    "a film of 268 megapixels": lambda: webp_claiming(16_383, 16_383),
    "300 frames": lambda: gif_of(300, 1000, 1000),
    "a million frames": lambda: gif_of(1_000_000, 1, 1),
    "a text of 20 MB": lambda: png_claiming(
        9, 9, chunk(b"zTXt", b"Comment\0\0" + blanks(20 << 20)), pixels=bytes(10) * 9
    ),
    "a colour profile of 20 MB": lambda: png_claiming(
        9, 9, chunk(b"iCCP", b"a\0\0" + blanks(20 << 20)), pixels=bytes(10) * 9
    ),
    "pages in a circle": lambda: tiff(
        *((256, 3, 1, 9), (257, 3, 1, 9), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
          (273, 4, 1, 8), (278, 3, 1, 9), (279, 4, 1, 81)), following=8,
    ),
    "a script with a picture": lambda: svg('width="4" height="3"', "<script>x()</script>" * 9000),
    "markup a hundred thousand deep": lambda: svg('width="4" height="3"', "<g>" * 100_000),
    "an attribute of 12 MB": lambda: svg(f'width="4" height="3" a="{"x" * (12 << 20)}"'),
    "a page after a picture": lambda: plain() + b"<html><script>x()</script></html>",
    "a zip after a picture": lambda: plain() + b"PK\x05\x06" + bytes(18),
    "a picture in the name of another": lambda: saved(Image.new("RGB", (9, 9)), "BMP"),
}  # fmt: skip


@pytest.mark.parametrize("which", TOLD)
@pytest.mark.sampled(3)
def test_facts_are_told_of_what_is_not_decoded(
    which: str, pictures: Confined, tmp_path: Path
) -> None:
    """Whatever a file claims; what it would take is refused, or so little that nobody minds."""
    found = opened(pictures, tmp_path / "blob", TOLD[which](), "a.png")
    for action, answer in found.items():
        assert answer.peak_bytes <= MODEST_BYTES, (action, answer)
        assert answer.cpu_s <= MODEST_S, (action, answer)
        if action != "preview":
            assert answer.kind == "returned", (action, answer)


REFUSED: dict[str, tuple[Build, str]] = {
    "an EPS file": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "an EPS file"),
    "a Photoshop file": (lambda: b"8BPS\0\1" + bytes(600), "a Photoshop file"),
    "a FITS file": (lambda: b"SIMPLE  =                    T" + bytes(2880), "a FITS file"),
    "an icon": (lambda: saved(Image.new("RGB", (16, 16)), "ICO"), "an icon file"),
    "a packed svg": (lambda: b"\x1f\x8b\x08" + bytes(50), "a compressed file"),
    "a page": (lambda: b"<!DOCTYPE html><html><svg/></html>", "no svg picture"),
    "a bitmap without pixels": (lambda: b"BM" + bytes(30), "a.png"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_is_no_picture_is_refused(which: str, pictures: Confined, tmp_path: Path) -> None:
    """In words that say what it is, whatever its name says."""
    build, words = REFUSED[which]
    for action, answer in opened(pictures, tmp_path / "blob", build(), "a.png").items():
        if which == "a page" and action == "preview":
            continue
        assert (answer.kind, answer.code) == ("refused", "FILE_READ_FAILED"), (action, answer)
        assert words in answer.text, (action, answer)
        assert answer.peak_bytes <= MODEST_BYTES, (action, answer)


@pytest.mark.full
def test_a_picture_of_the_largest_size_fits(pictures: Confined, tmp_path: Path) -> None:
    """49 megapixels, of those kinds that have to be decoded whole."""
    size = (7000, 7000)
    for kind, mode in (("PNG", "RGBA"), ("TIFF", "RGB"), ("WEBP", "RGB"), ("JPEG", "RGB")):
        data = saved(Image.new(mode, size), kind, **({"method": 0} if kind == "WEBP" else {}))
        answer = opened(pictures, tmp_path / "blob", data, "a")["preview"]
        assert answer.kind == "returned", (kind, answer)
        assert answer.peak_bytes <= 900 << 20, (kind, answer)


def test_a_bitmap_that_claims_more_than_it_has(pictures: Confined, tmp_path: Path) -> None:
    """Its pixels are missing: facts yes, and no more memory than those pixels would take."""
    found = opened(pictures, tmp_path / "blob", bmp_claiming(6000, 6000), "a.bmp")
    assert found["info"].kind == "returned"
    assert found["preview"].peak_bytes <= 300 << 20
