"""Pictures of the workbench put onto sheets, and taken off them."""

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from lxml import etree
from PIL import Image

from charted_books import FORMAT, entries, months_book, records
from drawn_books import drawn_book
from kbd.errors import ValidationFailed
from kbd.formats import Applied, CompareOptions, Source
from small_pictures import png


def put(book: Path, *found: dict[str, Any], pictures: dict[str, bytes], to: str = "out.xlsx"
        ) -> Applied:  # fmt: skip
    """Apply operations with pictures of the workbench."""
    files = {}
    for name, data in pictures.items():
        path = book.with_name(f"blob-{name}")
        path.write_bytes(data)
        files[name] = Source(path, name)
    target = book.with_name(to)
    target.unlink(missing_ok=True)
    return FORMAT.apply_with_files(Source(book, book.name), records(*found), target, files)


def add(**fields: Any) -> dict[str, Any]:
    return {"op": "add_image", "sheet": "My data", "image": "logo.png", "place": "G2", **fields}


def range_of(path: Path, number: int = -1) -> str:
    """The cells that a picture of "My data" covers, as the list of styles tells."""
    found = FORMAT.get_styles(Source(path, path.name), "My data")["assets"]
    images = [each for each in found if each["kind"] == "image"]
    return str(images[number]["range"])


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return months_book(tmp_path / "book.xlsx")


def test_a_picture_is_put_onto_a_sheet(book: Path) -> None:
    """Its bytes are in the file, as large as it is, and openpyxl reads it; the rest keeps."""
    data = png(128, 40)
    put(book, add(description='A "logo"'), pictures={"logo.png": data})

    out = book.with_name("out.xlsx")
    before, after = entries(book), entries(out)
    assert after["xl/media/image1.png"] == data
    assert {n for n in before if before[n] != after[n]} == {
        "[Content_Types].xml", "xl/worksheets/sheet1.xml",
    }  # fmt: skip
    (image,) = vars(openpyxl.load_workbook(out)["My data"])["_images"]
    assert (image.width, image.height, image.format) == (128, 40, "png")
    assert range_of(out) == "G2:H3"
    drawing = etree.fromstring(after["xl/drawings/drawing1.xml"])
    (properties,) = drawing.iter("{*}cNvPr")
    assert (properties.get("name"), properties.get("descr")) == ("Picture 1", 'A "logo"')


def test_sizes_keep_the_proportions(book: Path) -> None:
    """One side alone decides of the other; a range is covered; a resolution in the file counts."""
    put(book, add(size={"width": 4}), add(place="G20:H21"), add(image="fine.png", place="G30"),
        pictures={"logo.png": png(128, 40), "fine.png": png(384, 384, 192)})  # fmt: skip

    out = book.with_name("out.xlsx")
    assert [range_of(out, number) for number in range(3)] == ["G2:J5", "G20:H21", "G30:I39"]
    # The same bytes are stored once.
    assert sum(name.startswith("xl/media/") for name in entries(out)) == 2


def test_pictures_of_other_kinds(book: Path) -> None:
    """JPEG, GIF and BMP are told by their bytes, whatever their names say."""
    jpeg, gif, bmp = (drawn(kind) for kind in ("JPEG", "GIF", "BMP"))
    put(book, add(image="a.png"), add(image="b", place="G9"), add(image="c.bin", place="G20"),
        pictures={"a.png": jpeg, "b": gif, "c.bin": bmp})  # fmt: skip

    media = {name for name in entries(book.with_name("out.xlsx")) if name.startswith("xl/media/")}
    assert media == {"xl/media/image1.jpeg", "xl/media/image1.gif", "xl/media/image1.bmp"}


def drawn(kind: str) -> bytes:
    """A picture of a kind, as Pillow writes it."""
    made = io.BytesIO()
    Image.new("RGB", (64, 20)).save(made, kind)
    return made.getvalue()


@pytest.mark.parametrize(("data", "words"), [
    (b"<svg onload='x()'/>", "PNG, JPEG, GIF and BMP"),
    (b"", "PNG, JPEG, GIF and BMP"),
    (b"MZ\x90\0", "PNG, JPEG, GIF and BMP"),
    (png(4, 4)[:18], "damaged"),
    (b"\xff\xd8\xff\xe0\0\x10", "damaged"),
    (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\0" * 30, "damaged"),
])  # fmt: skip
def test_what_is_no_picture_is_refused(book: Path, data: bytes, words: str) -> None:
    """Something else under a picture's name, or a damaged one, is refused with what can be."""
    with pytest.raises(ValidationFailed, match=words):
        put(book, add(), pictures={"logo.png": data})


def test_a_picture_without_its_file_is_refused(book: Path) -> None:
    """Operations that name a file that they were not given, and bad places, are refused."""
    with pytest.raises(ValidationFailed, match="was not given"):
        put(book, add(image="other.png"), pictures={"logo.png": png(2, 2)})
    with pytest.raises(ValidationFailed, match="place of the picture"):
        put(book, add(place="A:C"), pictures={"logo.png": png(2, 2)})


def test_a_deleted_picture_is_gone_from_the_bytes(tmp_path: Path) -> None:
    """Its part goes with the last picture that shows it; links and other pictures stay."""
    drawn_book(tmp_path / "drawn.xlsx")
    pictures = {"logo.png": png(3, 3)}
    put(tmp_path / "drawn.xlsx", add(sheet="Data"), pictures=pictures, to="two.xlsx")
    delete = {"op": "delete_image", "sheet": "Data", "image": "Picture 1"}
    put(tmp_path / "two.xlsx", delete, pictures={})

    after = entries(tmp_path / "out.xlsx")
    assert "xl/media/image2.png" not in after
    assert "xl/media/image1.png" in after
    for key in ("0", "Logo"):
        put(tmp_path / "two.xlsx", {**delete, "image": key}, pictures={}, to=f"{key}.xlsx")
    assert entries(tmp_path / "0.xlsx") == entries(tmp_path / "Logo.xlsx")
    with pytest.raises(ValidationFailed, match="group"):
        put(tmp_path / "two.xlsx", {**delete, "image": "Inner"}, pictures={})
    with pytest.raises(ValidationFailed, match="there are: Logo"):
        put(tmp_path / "two.xlsx", {**delete, "image": "Lego"}, pictures={})


def test_the_review_names_the_picture(book: Path) -> None:
    """A new picture is one change, with its size and place."""
    put(book, add(), pictures={"logo.png": png(64, 20)})

    out = book.with_name("out.xlsx")
    found = FORMAT.compare(Source(book, "b.xlsx"), Source(out, "b.xlsx"), CompareOptions())
    (change,) = found.changes
    assert (change.what, change.kind, change.after["range"]) == ("picture", "added", "G2")
