"""Pages of PDF files as pictures."""

import contextlib
import io
import random
from pathlib import Path

import pytest
from PIL import Image

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import Preview, Source
from kbd_pdf import PdfFormat
from pdf_forge import FLATE, locked_by_owner, one_page, packed, rows, shown, stream, text_pages

PDF = PdfFormat()
DAMAGE_SEED = 3


def previewed(tmp_path: Path, data: bytes, index: int = 0, edge_px: int = 400) -> Preview:
    """A page's picture."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    return PDF.preview(Source(path, "a.pdf"), index, edge_px)


def opened(preview: Preview) -> Image.Image:
    """The picture, after seeing that it is what it says."""
    picture = Image.open(io.BytesIO(preview.data))
    assert picture.size == (preview.width, preview.height)
    assert Image.MIME[picture.format or ""] == preview.mime_type
    return picture


RED_CORNER = stream(b"1 0 0 rg 0 700 300 100 re f")


def test_a_page_is_drawn_to_the_size_asked_for(tmp_path: Path) -> None:
    """The longer edge is exact, the shorter in proportion, and colours are right."""
    preview = previewed(tmp_path, one_page(RED_CORNER))
    assert (preview.width, preview.height) == (300, 400)
    assert (preview.mime_type, preview.count, preview.warnings) == ("image/png", 1, ())
    picture = opened(preview)
    assert picture.getpixel((10, 10)) == (255, 0, 0)
    assert picture.getpixel((290, 10)) == picture.getpixel((10, 390)) == (255, 255, 255)


def test_a_page_is_upright(tmp_path: Path) -> None:
    """A page that is turned is drawn as people see it."""
    preview = previewed(tmp_path, one_page(RED_CORNER, page=b"/Rotate 90"))
    assert (preview.width, preview.height) == (400, 300)
    picture = opened(preview)
    assert picture.getpixel((390, 10)) == (255, 0, 0)
    assert picture.getpixel((10, 10)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("box", "size"),
    [
        (b"0 0 14400 14400", (400, 400)),
        (b"0 0 3 3", (400, 400)),
        (b"0 0 14400 1", (400, 1)),
        (b"0 0 1 14400", (1, 400)),
    ],
)
def test_extreme_pages_keep_the_edge(tmp_path: Path, box: bytes, size: tuple[int, int]) -> None:
    """Large, small, and thin ones."""
    data = one_page(RED_CORNER).replace(b"0 0 600 800", box)
    preview = previewed(tmp_path, data)
    assert (preview.width, preview.height) == size
    opened(preview)


def test_each_page_can_be_asked_for(tmp_path: Path) -> None:
    """From 0 to the last; others are refused, naming how many there are."""
    data = text_pages(["", "Second", ""])
    assert opened(previewed(tmp_path, data, 0)).getextrema() == ((255, 255),) * 3
    preview = previewed(tmp_path, data, 1)
    assert preview.count == 3
    assert opened(preview).convert("L").getextrema() != (255, 255)
    for index in (3, -1, 2**31 - 1):
        with pytest.raises(ValidationFailed, match=r"a\.pdf has 3 pages; page "):
            previewed(tmp_path, data, index)


def test_values_of_forms_are_drawn(tmp_path: Path) -> None:
    """People see them, though they are not in the page's own contents."""
    look = stream(b"0 0 1 rg 0 0 600 400 re f", b"/Type/XObject/Subtype/Form/BBox[0 0 600 400]")
    field = b"<</Subtype/Widget/Rect[0 0 600 400]/F 4/FT/Tx/T(a)/V(b)/AP<</N 6 0 R>>>>"
    data = one_page(
        stream(b""), look, field, page=b"/Annots[7 0 R]",
        catalogue=b"/AcroForm<</Fields[7 0 R]>>",
    )  # fmt: skip
    red, green, blue = opened(previewed(tmp_path, data)).getpixel((150, 300))  # type: ignore[misc]
    assert blue > max(red, green)


def test_a_photograph_comes_as_jpeg(tmp_path: Path) -> None:
    """Where a picture without a loss would be larger than a preview may be."""
    noise = random.Random(5).randbytes(1300 * 1300 * 3)
    entries = b"/Subtype/Image/Width 1300/Height 1300/BitsPerComponent 8/ColorSpace/DeviceRGB"
    data = one_page(
        stream(b"600 0 0 800 0 0 cm /I Do"), stream(noise, entries),
        resources=b"/XObject<</I 6 0 R>>",
    )  # fmt: skip
    preview = previewed(tmp_path, data, edge_px=1800)
    assert preview.mime_type == "image/jpeg"
    assert len(preview.data) <= 5 * 1024 * 1024
    assert (preview.width, preview.height) == (1350, 1800)
    opened(preview)


def test_pages_of_too_many_pixels_are_not_drawn(tmp_path: Path) -> None:
    """More than 200 megapixels; one picture that is drawn often counts once."""
    entries = b"/Subtype/Image/Width 16000/Height 9000/BitsPerComponent 1/ColorSpace/DeviceGray"
    picture = packed(b"\x55" * 1000, 18_000, entries + FLATE)
    other = packed(b"\x33" * 1000, 17_990, entries + FLATE)
    draw = b"300 0 0 400 0 0 cm /I Do /I Do /J Do"
    for second, is_drawn in ((picture, True), (other, False)):
        data = one_page(stream(draw), picture, second, resources=b"/XObject<</I 6 0 R/J 7 0 R>>")
        if is_drawn:
            opened(previewed(tmp_path, data, edge_px=100))
            continue
        with pytest.raises(FileReadFailed, match="more than 200 megapixels"):
            previewed(tmp_path, data, edge_px=100)


def test_what_cannot_be_drawn_is_refused_in_words(tmp_path: Path) -> None:
    """A file that only its text can be had of."""
    with pytest.raises(FileReadFailed, match="cannot be drawn"):
        previewed(tmp_path, locked_by_owner(shown("x")))
    with pytest.raises(FileReadFailed, match="is no PDF file"):
        previewed(tmp_path, b"hello")


def test_a_page_is_the_same_each_time(tmp_path: Path) -> None:
    """Repeated calls give the same bytes."""
    data = text_pages(rows(2))
    assert previewed(tmp_path, data, 1) == previewed(tmp_path, data, 1)


def test_a_page_of_a_damaged_file_is_drawn_or_refused_by_name(tmp_path: Path) -> None:
    """Whatever byte is another one: a picture with its size in points, or a typed error."""
    whole = text_pages(["One", "Two", "Three"])
    chance, drawn = random.Random(DAMAGE_SEED), 0
    path = tmp_path / "damaged.pdf"
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(KbdError):
            drawn += PDF.preview(Source(path, path.name), 1, 60).size is not None
    assert 100 < drawn < 600
