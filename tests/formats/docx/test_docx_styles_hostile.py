"""Documents whose looks are made to do harm: refused or told, with little memory and time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from confined import Answer, Confined, confined
from kbd_docx import DocxFormat
from styled_documents import parts_of, picture, png, style, written, zipped

SIZES = pytest.mark.parametrize("many", [150, pytest.param(20_000, marks=pytest.mark.full)])
"""How many there are: what costs the square of them ends none of the long tests in time."""


@pytest.fixture(scope="module")
def cell() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(DocxFormat, ("get_styles", "copy_assets")) as found:
        yield found


def tried(cell: Confined, path: Path) -> dict[str, Answer]:
    """Do everything to a file, and see that nothing went out of hand."""
    found = cell.run(path, path.name, cell.actions)
    for action, answer in found.items():
        assert answer.kind in ("returned", "refused"), (action, answer)
        assert str(path.parent) not in answer.text
    return found


@SIZES
def test_a_long_chain_of_styles(cell: Confined, tmp_path: Path, many: int) -> None:
    """Styles that rest on each other or follow each other by the thousand end somewhere."""
    based = "".join(
        style(f"S{n}", f'<w:basedOn w:val="S{n + 1}"/><w:next w:val="S{n + 2}"/>')
        for n in range(many)
    )
    found = tried(cell, written(tmp_path / "a.docx", "<w:p/>", {"styles": based}))

    assert f"{many - 80:,} more" in found["get_styles"].text
    words = "styles would come along" if many > 500 else "paragraph_style:S0: replaced S0"
    assert words in found["copy_assets"].text


@SIZES
def test_styles_of_one_name(cell: Confined, tmp_path: Path, many: int) -> None:
    """Very many styles of one name or of one id are told, and one can be copied."""
    same = "".join(style(f"S{n}", name="Same") for n in range(many))
    same += style("Twice") * many
    found = tried(cell, written(tmp_path / "a.docx", "<w:p/>", {"styles": same}))

    assert "paragraph_style:S0: " in found["copy_assets"].text


@SIZES
def test_very_many_tab_stops(cell: Confined, tmp_path: Path, many: int) -> None:
    """A style with more tab stops than any program takes is told, and not copied."""
    count = 6_000 + many * 10
    stops = "".join(f'<w:tab w:val="left" w:pos="{n}"/>' for n in range(count))
    sheet = style("A", f"<w:pPr><w:tabs>{stops}</w:tabs></w:pPr>")
    found = tried(cell, written(tmp_path / "a.docx", "<w:p/>", {"styles": sheet}))

    assert "the style A is too large to be copied" in found["copy_assets"].text


@SIZES
def test_very_many_sections(cell: Confined, tmp_path: Path, many: int) -> None:
    """Headers are set in sections by the ten thousand in one pass."""
    first = '<w:sectPr><w:headerReference w:type="first" r:id="rheader1"/></w:sectPr>'
    body = f"<w:p><w:pPr>{first}</w:pPr></w:p>" * many
    path = written(tmp_path / "a.docx", f"{body}{first}", {"header1": "<w:p/>"})
    found = tried(cell, path)

    assert "header:section0/first: set in all sections" in found["copy_assets"].text


@SIZES
def test_very_many_pictures(cell: Confined, tmp_path: Path, many: int) -> None:
    """Pictures of one name by the thousand get names of their own."""
    count = min(many, 6_000)
    body = "".join(f"<w:p>{picture('rP', alt=f'{n**9}')}</w:p>" for n in range(count))
    rows = {"document": [("rP", "image", "media/p.png")]}
    found = tried(cell, written(tmp_path / "a.docx", body, {"media/p.png": png()}, rows))

    assert f"images: {count - 60:,} more" in found["get_styles"].text
    assert "image:Logo: put at the end" in found["copy_assets"].text


def test_a_huge_header(cell: Confined, tmp_path: Path) -> None:
    """A header that no page could hold is told, cut, and not copied."""
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>'
    inside = "<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 30_000
    path = written(tmp_path / "a.docx", f"<w:p/>{section}", {"header1": inside})
    found = tried(cell, path)

    assert "is too large to be copied" in found["copy_assets"].text
    assert len(found["get_styles"].text) < 5_000


def test_a_header_of_many_relations(cell: Confined, tmp_path: Path) -> None:
    """A header that names hundreds of other parts is not copied."""
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>'
    links = "".join(f'<w:hyperlink r:id="r{n}"/>' for n in range(500))
    rows = {"header1": [(f"r{n}", "hyperlink", f"http://far/{n}") for n in range(500)]}
    parts = {"header1": f"<w:p>{links}</w:p>"}
    found = tried(cell, written(tmp_path / "a.docx", f"<w:p/>{section}", parts, rows))

    assert "is too large to be copied" in found["copy_assets"].text


@pytest.mark.full
def test_lists_without_an_end(cell: Confined, tmp_path: Path) -> None:
    """Lists that are told by each other's styles in a circle, and by the thousand, end."""
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{n}"><w:nsid w:val="{n % 2:08X}"/>'
        f'<w:styleLink w:val="L{n}"/><w:numStyleLink w:val="L{n + 1}"/></w:abstractNum>'
        for n in range(10_000)
    ) + "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(10_000)
    )
    sheet = "".join(
        style(f"P{n}", f'<w:pPr><w:numPr><w:numId w:val="{n}"/></w:numPr></w:pPr>')
        for n in range(200)
    )
    parts = {"numbering": numbering, "styles": sheet}
    tried(cell, written(tmp_path / "a.docx", "<w:p/>", parts))


def test_parts_that_lead_to_each_other(cell: Confined, tmp_path: Path) -> None:
    """A picture that leads to a picture and so on in a circle is refused."""
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>'
    media: dict[str, str | bytes] = {f"media/p{n}.png": png() for n in range(400)}
    rows = {"header1": [("rL", "image", "media/p0.png")]}
    head = f"<w:p>{picture('rL')}</w:p>"
    path = written(tmp_path / "a.docx", f"<w:p/>{section}", {"header1": head, **media}, rows)
    chain = {f"word/media/_rels/p{n}.png.rels": _chained((n + 1) % 400) for n in range(400)}
    found = tried(cell, zipped(path, parts_of(path) | chain))

    assert "leads from part to part without an end" in found["copy_assets"].text


def _chained(number: int) -> bytes:
    """Return relations to a picture."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{kind}" Target="p{number}.png"/></Relationships>'
    ).encode()
