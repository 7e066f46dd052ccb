"""The tool that saves pages as pictures: what it writes, and what it refuses."""

import io
from pathlib import Path

import pytest
from PIL import Image

from kbd.errors import NotFound, SandboxViolation, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd_edits.picture_tool import SavePagePicture
from kbd_image import ImageFormat
from kbd_pdf import PdfFormat
from pdf_forge import text_pages

pytestmark = pytest.mark.anyio


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """A workbench with a file of two pages and a picture that is half transparent."""
    made = Workbench(tmp_path, [PdfFormat(), ImageFormat()])
    made.add("two.pdf", text_pages(["First", "Second"]))
    picture = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
    picture.paste((255, 0, 0, 255), (0, 0, 20, 20))
    data = io.BytesIO()
    picture.save(data, "PNG")
    made.add("half.png", data.getvalue())
    return made


@pytest.fixture
def tool(workbench: Workbench) -> SavePagePicture:
    """The tool, which keeps the contract of tools."""
    made = SavePagePicture(workbench.formats)
    check_tool(made)
    return made


@pytest.mark.parametrize(("target", "kind"), [("b.png", "PNG"), ("in/b.jpg", "JPEG")])
async def test_a_page_becomes_a_picture(
    workbench: Workbench, tool: SavePagePicture, target: str, kind: str
) -> None:
    """Of the kind that the name says, as large as was asked, the same bytes each time."""
    told = await workbench.call(tool, path="two.pdf", target_path=target, page=2, edge_px=400)
    copied = f"again {target}"
    await workbench.call(tool, path="two.pdf", target_path=copied, page=2, edge_px=400)

    assert told.value["page_count"] == 2
    with Image.open(io.BytesIO(workbench.content(target))) as picture:
        assert picture.format == kind
        assert picture.size == (told.value["width"], told.value["height"])
        assert max(picture.size) == 400
        assert min(picture.convert("L").tobytes()) < 128
    assert workbench.content(copied) == workbench.content(target)


async def test_what_is_transparent_is_white_where_a_kind_knows_no_transparency(
    workbench: Workbench, tool: SavePagePicture
) -> None:
    """As paper, not black."""
    await workbench.call(tool, path="half.png", target_path="half.jpeg")
    with Image.open(io.BytesIO(workbench.content("half.jpeg"))) as picture:
        left, right = picture.getpixel((5, 10)), picture.getpixel((35, 10))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[0] > 240
    assert left[1] < 20
    assert min(right) > 240


async def test_what_cannot_be_saved_is_refused(workbench: Workbench, tool: SavePagePicture) -> None:
    """Other names, taken ones, pages that are not there, what no program is there to print."""
    workbench.add("a.txt", "x")
    for path, target, page, kind, message in (
        ("two.pdf", "b.gif", 1, ValidationFailed, "ends with .png, .jpg"),
        ("two.pdf", "half.png", 1, ValidationFailed, "exists"),
        ("two.pdf", "b.png", 3, ValidationFailed, "page"),
        ("a.txt", "b.png", 1, ValidationFailed, "a.txt"),
        ("tow.pdf", "b.png", 1, NotFound, "two.pdf"),
        ("two.pdf", "../b.png", 1, SandboxViolation, "name of a file"),
    ):
        with pytest.raises(kind, match=message):
            await workbench.call(tool, path=path, target_path=target, page=page)
    assert workbench.files.names() == ["a.txt", "half.png", "two.pdf"]
