"""OpenDocument presentations are mapped and read as people see them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Reading, Region, Source
from kbd_odp import OdpFormat
from odp_decks import (
    box,
    deck_content,
    deck_file,
    deck_styles,
    flat_deck,
    placeholder,
    rich_deck_file,
    slide,
)

FORMAT = OdpFormat()


@pytest.fixture
def rich(tmp_path: Path) -> Source:
    """A deck that holds a bit of everything."""
    return Source(rich_deck_file(tmp_path / "a.odp"), "a.odp")


def read(source: Source, index: int | None = None) -> Reading:
    """The reading of a slide, or of the deck."""
    return FORMAT.read(source, Region(slide_index=index))


def text_of(tmp_path: Path, shapes: str, automatic: str = "", styles: str = "") -> str:
    """The text of a slide with some shapes."""
    path = deck_file(tmp_path / "b.odp", slide(shapes), automatic=automatic, styles=styles)
    return read(Source(path, "b.odp"), 0).text


def test_the_map_tells_what_is_on_each_slide(rich: Source) -> None:
    """Titles, names, layouts, and what there is of pictures, charts, tables and notes."""
    found = FORMAT.map(rich)

    assert found["slide_count"] == 3
    assert found["slide_size"] == {"width": 10.0, "height": 7.5}
    assert found["layouts"] == ["Plain"]
    first, second, third = found["slides"]
    assert (first["index"], first["name"], first["title"]) == (0, "Opening", "Where we stand")
    assert (first["layout"], first["has_images"], first["has_tables"]) == ("Plain", True, False)
    flags = ("has_charts", "has_tables", "has_notes", "has_comments")
    assert [second[flag] for flag in flags] == [True] * 4
    assert second["shape_count"] == 8
    assert third["hidden"] is True
    assert third["title"] is None


def test_shapes_are_where_they_are_seen(rich: Source) -> None:
    """In inches: boxes, lines by their ends, groups around what is in them, and turned ones."""
    shapes = {each["name"]: each for each in FORMAT.map(rich)["slides"][1]["shapes"]}

    def place(name: str) -> list[float]:
        return [shapes[name][side] for side in ("left", "top", "width", "height")]

    assert place("Prices") == [1, 2, 2, 1]
    assert place("Line") == [3, 5.5, 1, 0.5]
    assert place("Pair") == [1, 5, 3, 1]
    assert shapes["Left"]["group"] == shapes["Pair"]["index"]
    # Of 2 by 1 inches, turned against the clock about its corner at 3, 4: its middle is 3.5, 3.
    assert place("Turned") == [2.5, 2.5, 2, 1]
    kinds = {name: each["kind"] for name, each in shapes.items()}
    assert kinds["Prices"] == "table"
    assert kinds["Units"] == "chart"
    assert kinds["Line"] == "connector"


def test_a_slide_is_read_as_people_see_it(rich: Source) -> None:
    """The title first, then the shapes; lists with their bullets; empty placeholders are none."""
    assert read(rich, 0).text == (
        "Where we stand\n\n[Picture: a tree]\n\none\n- two  three\nfour\n\nFooter: Our firm"
    )


def test_what_belongs_to_a_slide_is_told_apart_from_it(rich: Source) -> None:
    """Tables, charts, hidden shapes, what lies beside it, notes, comments and links: labeled."""
    assert read(rich, 1).text.split("\n\n") == [
        "Figures",
        "Item | Price\nTea / green | ",
        "[Chart: Sales, bar]\n | Units\nMay | 7",
        "left",
        "[hidden] kept",
        "there",
        "Outside of the slide:\nbeside",
        "Notes:\nsay it slowly",
        "Comments:\n- Ann, 2024-05-01: sure?",
        "Links:\n- there -> https://a.example/",
    ]
    assert read(rich, 2).text == "[This slide is hidden.]"


def test_a_deck_is_read_from_its_first_slide(tmp_path: Path, rich: Source) -> None:
    """Whole where it is short, each slide under its place; else as far as it fits, and told."""
    whole = read(rich)
    assert whole.chunk_info is None
    assert whole.text.startswith("slide 1 (slide_index 0)\n\nWhere we stand")

    long = slide(placeholder("outline", "word " * 2_000))
    path = deck_file(tmp_path / "long.odp", long * 5)
    found = read(Source(path, "long.odp"))
    assert found.chunk_info is not None
    assert (found.chunk_info.range, found.chunk_info.has_more) == ("0-1", True)
    assert "Of 5 slides the first 2 are shown; go on with slide_index 2." in found.warnings


def test_objects_are_plain_values(rich: Source) -> None:
    """Shapes with their bounds, tables and charts with their rows, pictures with their files."""
    objects = FORMAT.objects(rich, Region(slide_index=1)).objects
    assert objects is not None
    (table,), (chart,) = objects["tables"], objects["charts"]
    assert (table["rows"], table["column_count"]) == ([["Item", "Price"], ["Tea / green", ""]], 2)
    assert (chart["title"], chart["rows"]) == ("Sales", [["", "Units"], ["May", "7"]])
    shapes = {each["name"]: each for each in objects["shapes"]}
    assert shapes["Away"]["outside"] is True
    assert shapes["Secret"]["hidden"] is True
    pictures = FORMAT.objects(rich, Region(slide_index=0)).objects
    assert pictures is not None
    assert [(each["file"], each["alt_text"]) for each in pictures["images"]] == [
        ("Pictures/1.png", "a tree")
    ]


def test_passages_are_slides_that_can_be_read_again(rich: Source) -> None:
    """Each with the region that reads it; the facts count them."""
    found = list(FORMAT.passages(rich))
    assert [each.region for each in found] == [Region(slide_index=index) for index in range(3)]
    assert [FORMAT.read(rich, each.region or Region()).text for each in found] == [
        each.text for each in found
    ]
    assert FORMAT.info(rich) == {"format": "odp", "slide_count": 3, "title": "Report"}


def test_a_flat_deck_is_read_as_a_zipped_one(tmp_path: Path) -> None:
    """With the chart that it holds in itself."""
    inner = deck_content("").replace("office:document-content", "office:document")
    chart = inner.replace(
        "<office:presentation></office:presentation>",
        '<office:chart><chart:chart chart:class="chart:circle"/></office:chart>',
    )
    shapes = placeholder("title", "Flat") + box("C", f"<draw:object>{chart}</draw:object>")
    (tmp_path / "a.fodp").write_bytes(flat_deck(slide(shapes)))
    assert read(Source(tmp_path / "a.fodp", "a.fodp"), 0).text == "Flat\n\n[Chart: C, pie]"


def test_the_number_of_a_slide_is_the_one_that_it_shows(tmp_path: Path) -> None:
    """A field for it holds whatever the program that saved the file wrote there."""
    number = "<text:page-number>&lt;number&gt;</text:page-number>"
    path = deck_file(tmp_path / "a.odp", slide(placeholder("page-number", number)) * 2)
    assert read(Source(path, "a.odp"), 1).text == "Slide number: 2"


WHITE = (
    '<style:style style:name="T1" style:family="text"><style:text-properties fo:color="#ffffff"/>'
    '</style:style><style:style style:name="gr1" style:family="graphic"><style:graphic-properties '
    'draw:fill="solid" draw:fill-color="#003366"/></style:style><style:style style:name="gr2" '
    'style:family="graphic"><style:graphic-properties draw:fill="none"/></style:style>'
)
SPAN = '<text:p><text:span text:style-name="T1">pale</text:span></text:p>'
PALE = box("Pale", f"<draw:text-box>{SPAN}</draw:text-box>", more=' draw:style-name="gr2"')


def _rectangle(style: str, at: str = "2in") -> str:
    return (
        f'<draw:rect draw:style-name="{style}" svg:x="1in" svg:y="{at}" svg:width="5in" '
        'svg:height="1in"/>'
    )


def test_text_of_the_color_of_the_slide_is_labeled(tmp_path: Path) -> None:
    """White on a white slide may be hidden; on a dark shape, a dark slide or master it is seen."""
    assert text_of(tmp_path, PALE, WHITE) == "[maybe hidden: pale]"
    assert text_of(tmp_path, _rectangle("gr2") + PALE, WHITE) == "[maybe hidden: pale]"
    assert text_of(tmp_path, _rectangle("gr1", "5in") + PALE, WHITE) == "[maybe hidden: pale]"
    assert text_of(tmp_path, _rectangle("gr1") + PALE, WHITE) == "pale"
    assert text_of(tmp_path, PALE.replace("gr2", "gr1"), WHITE) == "pale"
    dark = (
        '<style:style style:name="Mdp1" style:family="drawing-page"><style:drawing-page-properties '
        'draw:fill="solid" draw:fill-color="#112233"/></style:style>'
    )
    assert text_of(tmp_path, PALE, WHITE, deck_styles(automatic=dark)) == "pale"
    picture = deck_styles(
        master='<draw:frame svg:x="0in" svg:y="0in" svg:width="10in" svg:height="7.5in">'
        '<draw:image xlink:href="Pictures/1.png"/></draw:frame>'
    )
    assert text_of(tmp_path, PALE, WHITE, picture) == "pale"


def test_a_title_has_no_labels(tmp_path: Path) -> None:
    """The map shows it as it is, and where it is read it is labeled."""
    title = placeholder("title", SPAN.removeprefix("<text:p>").removesuffix("</text:p>"))
    path = deck_file(tmp_path / "a.odp", slide(title), automatic=WHITE)
    assert FORMAT.map(Source(path, "a.odp"))["slides"][0]["title"] == "pale"
    assert read(Source(path, "a.odp"), 0).text == "[maybe hidden: pale]"


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text": (
        lambda path: deck_file(path, "", kind="application/vnd.oasis.opendocument.text"),
        "it is an OpenDocument text; give it the suffix of its kind",
    ),
    "another body": (
        lambda path: deck_file(path, "", parts={"content.xml": deck_content("").replace(
            "office:presentation", "office:text")}),
        "it is a text; give it the suffix of its kind",
    ),
    "an encrypted one": (
        lambda path: deck_file(path, "", manifest='<manifest:file-entry manifest:full-path="x">'
                               "<manifest:encryption-data/></manifest:file-entry>"),
        "is encrypted with a password",
    ),
    "no slides": (
        lambda path: deck_file(path, "", parts={"content.xml": "<a/>"}), "it holds no slides"
    ),
    "no XML": (
        lambda path: deck_file(path, "", parts={"content.xml": "<a>"}), "is not valid XML"
    ),
    "a file of zeros": (lambda path: path.write_bytes(b"\0" * 99), "is not a zip"),
    "too many shapes": (
        lambda path: deck_file(path, slide("<draw:rect/>" * 10_001)), "a slide has 10,001 shapes"
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
def test_what_is_no_deck_is_refused_with_the_reason(which: str, tmp_path: Path) -> None:
    """By name, whatever is asked."""
    write, told = REFUSED[which]
    write(tmp_path / "a.odp")
    source = Source(tmp_path / "a.odp", "a.odp")
    for ask in (FORMAT.map, read):
        with pytest.raises(FileReadFailed) as caught:
            ask(source)
        assert "a.odp" in str(caught.value)
        assert told in str(caught.value) or which == "a file of zeros"


def test_what_is_not_there_is_refused_by_its_index(rich: Source) -> None:
    """With how many there are; coordinates of other formats are refused."""
    for index in (-1, 3):
        with pytest.raises(ValidationFailed, match="counted from 0 to 2"):
            read(rich, index)
    with pytest.raises(ValidationFailed, match="by slide_index, not by page"):
        FORMAT.read(rich, Region(pages="1"))


def test_a_chart_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """The slide is read without it."""
    shapes = placeholder("title", "T") + box("C", '<draw:object xlink:href="./Object 1"/>')
    path = deck_file(tmp_path / "a.odp", slide(shapes), parts={"Object 1/content.xml": "<a"})
    found = read(Source(path, "a.odp"), 0)
    assert found.text == "T\n\n[Embedded object: C]"
    assert any("The object C of slide 1 is not shown" in each for each in found.warnings)
