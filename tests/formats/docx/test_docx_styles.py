"""How a document looks, told in words and in bounds."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import FileReadFailed
from made_documents import edit
from styled_documents import (
    FORMAT,
    brand,
    parts_of,
    picture,
    plain,
    png,
    source,
    strictly,
    style,
    styles_of,
    theme,
    written,
    zipped,
)

_MAX_ANSWER_BYTES = 120_000


def told(path: Path) -> dict[str, Any]:
    """Return what get_styles tells; it is plain and bounded, and its assets are unique."""
    found = FORMAT.get_styles(source(path), None)
    assets = [each["asset_id"] for each in found["assets"]]

    assert len(json.dumps(found)) < _MAX_ANSWER_BYTES
    assert len(set(assets)) == len(assets)
    return found


def test_a_paragraph_style_in_the_words_of_operations(tmp_path: Path) -> None:
    """What a style comes to is told: defaults, bases and the theme's fonts and colours resolved."""
    found = styles_of(brand(tmp_path / "brand.docx"))["BrandHeading"]

    assert found == {
        "id": "BrandHeading",
        "name": "Brand Heading",
        "used": 1,
        "based_on": "BrandBase",
        "next": "BrandBody",
        "linked": "BrandHeadingChar",
        "list": {"id": "7", "level": "0"},
        "font_name": "Georgia",
        "font_size": 22.0,
        "bold": True,
        "italic": True,
        "font_color": "#AA3300",
        "alignment": "center",
        "space_before": 12.0,
        "space_after": 6.0,
        "line_spacing": 1.079,
        "outline_level": 1,
        "keep_with_next": True,
        "asset_id": "paragraph_style:BrandHeading",
    }


def test_styles_of_each_kind(tmp_path: Path) -> None:
    """Character, table and numbering styles are told; what every document has is no asset."""
    styles = styles_of(brand(tmp_path / "brand.docx"))

    assert styles["Shout"] == {
        "id": "Shout", "name": "Shout", "used": 1, "underline": True, "all_caps": True,
        "asset_id": "character_style:Shout",
    }  # fmt: skip
    assert (styles["BrandGrid"]["used"], styles["BrandGrid"]["based_on"]) == (1, "TableNormal")
    assert styles["Legal"]["levels"] == [{"format": "upperRoman", "text": "%1)"}]
    assert styles["BrandBody"]["indent_first_line"] == -0.25
    assert "asset_id" not in styles["NormalTable"]
    assert "asset_id" not in styles["DefaultParagraphFont"]


def test_how_often_styles_are_used(tmp_path: Path) -> None:
    """A paragraph that names no style counts for the default; what a change was before does not."""
    body = (
        "<w:p/><w:p><w:pPr><w:pStyle w:val='A'/><w:pPrChange><w:pPr><w:pStyle w:val='B'/></w:pPr>"
        "</w:pPrChange></w:pPr></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"
    )
    sheet = style("N", name="Normal", more='w:default="1"') + style("A") + style("B")
    found = styles_of(written(tmp_path / "a.docx", body, {"styles": sheet}))

    assert {name: each["used"] for name, each in found.items()} == {"Normal": 2, "A": 1, "B": 0}


def test_pages_headers_and_footers(tmp_path: Path) -> None:
    """Pages are told in inches; headers with their text, and whether they are shown."""
    found = told(brand(tmp_path / "brand.docx"))

    (page,) = found["page_setups"]
    assert (page["width"], page["height"], page["orientation"]) == (8.268, 11.693, "portrait")
    assert page["margins"]["left"] == 1.0
    assert found["headers"] == [
        {
            "type": "default", "sections": [0], "text": "acme.example",
            "asset_id": "header:section0/default",
        },
        {
            "type": "first", "sections": [0], "text": "First page",
            "asset_id": "header:section0/first", "is_shown": False,
        },
    ]  # fmt: skip
    assert [each["text"] for each in found["footers"]] == ["Page "]


@pytest.mark.parametrize(
    ("word", "is_shown"),
    [("1", True), ("none", True), ("0", False), ("false", False), ("off", False)],
)
def test_switches_mean_one_thing(tmp_path: Path, word: str, *, is_shown: bool) -> None:
    """Words that switch off are the same for styles, map and edits; no other word does."""
    body = (
        '<w:p/><w:sectPr><w:headerReference w:type="first" r:id="rheader1"/>'
        f'<w:titlePg w:val="{word}"/></w:sectPr>'
    )
    parts: dict[str, str | bytes] = {
        "header1": "<w:p><w:r><w:t>First</w:t></w:r></w:p>",
        "settings": f'<w:trackRevisions w:val="{word}"/>',
    }
    path = written(tmp_path / "a.docx", body, parts)
    (header,) = told(path)["headers"]
    (mapped,) = FORMAT.map(source(path))["headers"]
    applied = edit(path, {"op": "append_paragraph", "text": "x"})

    assert header.get("is_shown", True) is mapped.get("is_shown", True) is is_shown
    assert bool(applied.warnings) is is_shown


def test_images(tmp_path: Path) -> None:
    """Pictures are told with size, type, words and place; a name comes once, links are no asset."""
    older = (
        '<w:p><w:r><w:pict><v:shape id="s1" style="width:72pt;height:36pt" alt="Old">'
        '<v:imagedata r:id="rP" o:title="Sign"/></v:shape></w:pict></w:r></w:p>'
    )
    body = (
        f"<w:p>{picture('rP', name='Sign', alt='One')}</w:p>"
        f"<w:tbl><w:tr><w:tc><w:p>{picture('rP', name='sign ')}</w:p></w:tc></w:tr></w:tbl>"
        f"{older}<w:p>{picture('', name='Far', link='rF')}</w:p>"
    )
    rows = [("rP", "image", "media/p.png"), ("rF", "image", "file:///far.png")]
    path = written(tmp_path / "a.docx", body, {"media/p.png": png()}, {"document": rows})
    found = told(path)["images"]

    assert [(each["name"], each["where"], each["alt_text"]) for each in found] == [
        ("Sign", "paragraph 1", "One"),
        ("sign (2)", "table 0", ""),
        ("Sign (3)", "paragraph 2", "Old"),
        ("Far", "paragraph 3", ""),
    ]
    assert {(each["width"], each["height"]) for each in found} == {(1.0, 0.5)}
    assert [each.get("asset_id") for each in found] == [
        "image:Sign", "image:sign (2)", "image:Sign (3)", None,
    ]  # fmt: skip
    assert found[0]["type"] == "image/png"
    assert found[3]["is_linked"] is True


@pytest.mark.parametrize(
    ("size", "inches"),
    [
        ("width:96;height:48", (1.0, 0.5)),
        ("width:96px;height: 48 px ", (1.0, 0.5)),
        ("width:72pt;height:3pc", (1.0, 0.5)),
        ("mso-width-percent:500;width:2.54cm;height:12.7mm", (1.0, 0.5)),
        ("width:50%;height:1e3pt", (0.0, 0.0)),
    ],
)
def test_sizes_of_older_pictures(tmp_path: Path, size: str, inches: tuple[float, float]) -> None:
    """Lengths of VML without a unit are pixels, to the map and the styles alike."""
    body = (
        f'<w:p><w:r><w:pict><v:shape id="s1" style="{size}"><v:imagedata r:id="rP"/></v:shape>'
        f'<v:group style="width:1in;height:1in"><v:shape id="s2" style="{size}">'
        '<v:imagedata r:id="rP"/></v:shape></v:group></w:pict></w:r></w:p>'
    )
    rows = {"document": [("rP", "image", "media/p.png")]}
    path = written(tmp_path / "a.docx", body, {"media/p.png": png()}, rows)
    # In a group, lengths without a unit are in coordinates of the group.
    grouped = (0.0, 0.0) if size == "width:96;height:48" else inches

    for found in (told(path)["images"], FORMAT.map(source(path))["images"]):
        assert [(each["width"], each["height"]) for each in found] == [inches, grouped]


def test_theme_colours_are_shaded(tmp_path: Path) -> None:
    """Tint makes a colour of the theme lighter, shade darker, and settings may map its names."""
    sheet = "".join(
        style(name, f'<w:rPr><w:color w:val="000000" w:themeColor="{color}" {more}/></w:rPr>')
        for name, color, more in (
            ("Tint", "accent1", 'w:themeTint="99"'),
            ("Shade", "accent1", 'w:themeShade="80"'),
            ("Mapped", "text1", ""),
        )
    )
    parts = {
        "styles": sheet,
        "theme": theme("A", "B", "4F81BD"),
        "settings": '<w:clrSchemeMapping w:t1="accent2"/>',
    }
    found = styles_of(written(tmp_path / "a.docx", "<w:p/>", parts))

    assert found["Tint"]["font_color"] == "#95B3D7"
    # Programs round differently; Word has 244061.
    assert found["Shade"]["font_color"] == "#254062"
    assert found["Mapped"]["font_color"] == "#4F81BD"


def test_a_strict_document_is_told_alike(tmp_path: Path) -> None:
    """The strict variant's names and values come to the same words."""
    path = brand(tmp_path / "brand.docx")
    other = strictly(path, tmp_path / "strict.docx")

    assert told(other) == told(path)


def test_an_answer_ends_somewhere(tmp_path: Path) -> None:
    """Of very many things the first are told, the most used styles before all; the rest counts."""
    sheet = "".join(style(f"S{number}") for number in range(500))
    body = "<w:p><w:pPr><w:pStyle w:val='S499'/></w:pPr></w:p>"
    body += "<w:p><w:pPr><w:sectPr/></w:pPr></w:p>" * 300
    found = told(written(tmp_path / "a.docx", body, {"styles": sheet}))

    assert found["paragraph_styles"][0]["id"] == "S499"
    assert len(found["paragraph_styles"]) == 80
    assert "paragraph_styles: 420 more" in found["left_out"]
    assert "page_setups: 280 more" in found["left_out"]


def test_bases_in_a_circle_end(tmp_path: Path) -> None:
    """Styles that are based on each other are told, and each says what it says."""
    sheet = style("A", '<w:basedOn w:val="B"/><w:rPr><w:b/></w:rPr>')
    sheet += style("B", '<w:basedOn w:val="A"/><w:rPr><w:i/></w:rPr>')
    found = styles_of(written(tmp_path / "a.docx", "<w:p/>", {"styles": sheet}))

    assert (found["A"]["bold"], found["A"]["italic"]) == (True, True)


def test_bare_and_odd_documents(tmp_path: Path) -> None:
    """A document without any part but its body, and one of odd values, are told as they are."""
    bare = told(written(tmp_path / "bare.docx", "<w:p/>"))
    inside = (
        '<w:pPr><w:ind w:left="x"/><w:spacing w:line="9e99" w:before="1.5in"/><w:outlineLvl '
        'w:val="-4"/></w:pPr><w:rPr><w:sz w:val=""/><w:color/></w:rPr>'
    )
    odd = style("A", inside)
    found = styles_of(written(tmp_path / "odd.docx", "<w:p/>", {"styles": odd}))["A"]

    assert bare["assets"] == []
    assert found == {
        "id": "A", "name": "A", "used": 0, "space_before": 108.0, "asset_id": "paragraph_style:A",
    }  # fmt: skip


def test_a_part_too_large_for_a_tree_is_refused(tmp_path: Path) -> None:
    """A body of millions of tags is refused by its count, before it fills the memory."""
    parts = parts_of(plain(tmp_path / "plain.docx"))
    parts["word/document.xml"] = b"<w:p/>" * 5_000_001
    path = zipped(tmp_path / "a.docx", parts, zipfile.ZIP_STORED)

    with pytest.raises(FileReadFailed, match="tags and attributes"):
        FORMAT.get_styles(source(path), None)
