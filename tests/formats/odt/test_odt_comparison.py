"""What differs between two versions of an OpenDocument text, each thing told once and in place."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Change, CompareOptions, Comparison, Place, Source
from kbd_odt import OdtFormat
from odt_texts import AUTOMATIC, BODY, flat, rich_text, styles, text_file

FORMAT = OdtFormat()
TABLE = (
    "<table:table><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell>"
    "<table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:table-cell><text:p>Tea</text:p></table:table-cell>"
    "<table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row>{}</table:table>"
)
ROW = (
    "<table:table-row><table:table-cell><text:p>Milk</text:p></table:table-cell>"
    "<table:table-cell><text:p>2.50</text:p></table:table-cell></table:table-row>"
)
BOLD = (
    '<style:style style:name="{}" style:family="text"><style:text-properties'
    ' style:font-name="{}"/></style:style>'
)
HEADING = '<text:h text:outline-level="1">Pricing</text:h>'


def paras(*texts: str) -> str:
    """Return paragraphs."""
    return "".join(f"<text:p>{text}</text:p>" for text in texts)


def compared(before: Path | None, after: Path | None) -> Comparison:
    """Compare two texts."""
    sources = [None if path is None else Source(path, path.name) for path in (before, after)]
    return FORMAT.compare(sources[0], sources[1], CompareOptions())


def changes(folder: Path, before: str, after: str, **more: Any) -> tuple[Change, ...]:
    """Return what differs between two bodies."""
    paths = []
    for side, body in (("before", before), ("after", after)):
        own = {key.removesuffix(f"_{side}"): value for key, value in more.items()
               if not key.endswith(("_before", "_after")) or key.endswith(side)}  # fmt: skip
        paths.append(text_file(folder / f"{side}.odt", body, **own))
    return compared(*paths).changes


def only(found: tuple[Change, ...]) -> Change:
    """Return the only change."""
    assert len(found) == 1, found
    return found[0]


def test_equal_texts_differ_in_nothing(tmp_path: Path) -> None:
    """However they are zipped, whatever automatic styles are called, wherever pages end."""
    path = rich_text(tmp_path / "a.odt")
    again = tmp_path / "b.odt"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(again, "w") as new:
        for name in old.namelist():
            data = old.read(name).replace(b'"T1"', b'"T9"')
            new.writestr(name, data.replace(b"One<text:s", b"<text:soft-page-break/>One<text:s"))

    assert compared(path, path).total == 0
    assert compared(path, again).total == 0


def test_a_transposed_amount_in_a_table_is_one_change(tmp_path: Path) -> None:
    """It names table, row and column, from 0 in the place and from 1 in the title."""
    body = HEADING + TABLE
    found = only(changes(tmp_path, body.format("341.60", ""), body.format("314.60", "")))

    assert found.place == Place(
        "Pricing, table 1, row 2, column 2", section=0, table=0, row=1, column=1
    )
    assert (found.what, found.before, found.after) == ("cell", "341.60", "314.60")
    assert found.words == (("removed", "341.60"), ("added", "314.60"))


ONE, TWO, THREE = "First of all we say this.", "Then comes another one.", "Last of all is the end."


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (paras(ONE, TWO), paras(ONE, THREE, TWO), ("added", "paragraph", "paragraph 2")),
        (paras(ONE, TWO), paras(TWO), ("removed", "paragraph", "paragraph 1")),
        (paras(ONE, TWO, THREE), paras(TWO, THREE, ONE), ("moved", "paragraph", "paragraph 3")),
        (paras(ONE, TWO), paras(ONE, f"{TWO} Really."), ("changed", "paragraph", "paragraph 2")),
        (TABLE.format("1", ""), TABLE.format("1", ROW), ("added", "row", "table 1, row 3")),
        (TABLE.format("1", ROW), TABLE.format("1", ""), ("removed", "row", "table 1, row 3")),
        (paras(ONE), paras(ONE) + TABLE.format("1", ""), ("added", "table", "table 1")),
        (paras("x<text:note><text:note-body><text:p>a</text:p></text:note-body></text:note>"),
         paras("x<text:note><text:note-body><text:p>b</text:p></text:note-body></text:note>"),
         ("changed", "note", "paragraph 1")),
        (paras("x"), paras("x<office:annotation><text:p>b</text:p></office:annotation>"),
         ("added", "comment", "paragraph 1")),
        (paras('<text:a xlink:href="a">x</text:a>'), paras('<text:a xlink:href="b">x</text:a>'),
         ("changed", "link", "paragraph 1")),
        (paras(ONE), paras(f'{ONE}<text:bookmark text:name="b"/>'),
         ("changed", "format", "paragraph 1")),
        ("<text:p>x</text:p>", "<text:h>x</text:h>", ("changed", "format", "x, paragraph 1")),
    ],
)  # fmt: skip
def test_each_edit_is_one_change(
    tmp_path: Path, before: str, after: str, expected: tuple[str, str, str]
) -> None:
    """Paragraphs, rows, tables, notes, comments, links; and what has no words here."""
    found = only(changes(tmp_path, before, after))

    assert (found.kind, found.what, found.place.title) == expected


def test_formatting_is_told_by_name_with_the_text_concerned(tmp_path: Path) -> None:
    """As the automatic style has it, whatever that is called."""
    body = 'We <text:span text:style-name="{}">pay</text:span>.'
    found = only(
        changes(
            tmp_path, paras(body.format("T1")), paras(body.format("T7")),
            automatic_before=BOLD.format("T1", "Arial"), automatic_after=BOLD.format("T7", "Times"),
        )
    )  # fmt: skip

    assert (found.what, found.after) == ("format", "pay")
    assert dict(found.details) == {"font": ("Arial", "Times")}


MASTER = (
    '<style:master-page style:name="S"><style:header><text:p>{}</text:p></style:header>'
    "</style:master-page>"
)


def test_what_stands_around_the_text(tmp_path: Path) -> None:
    """Headers, styles, properties: each by a place of its own."""
    found = changes(
        tmp_path, paras("x"), paras("x"),
        styles_before=styles(BOLD.format("Strong", "Arial"), MASTER.format("Acme")),
        styles_after=styles(BOLD.format("Strong", "Times"), MASTER.format("Apex")),
    )  # fmt: skip

    assert [(each.what, each.place.title) for each in found] == [
        ("header", "header 1"), ("style", "style Strong (text)"),
    ]  # fmt: skip


def test_a_picture_counts_by_its_bytes(tmp_path: Path) -> None:
    """Another one in its place is told where it stands; another name for it is nothing."""
    paths = []
    for name, file, data in (
        ("a", "1.png", b"one"),
        ("b", "1.png", b"two"),
        ("c", "9.png", b"one"),
    ):
        frame = f'<draw:frame><draw:image xlink:href="Pictures/{file}"/></draw:frame>'
        paths.append(text_file(tmp_path / f"{name}.odt", paras(frame)))
        with zipfile.ZipFile(paths[-1], "a") as archive:
            archive.writestr(f"Pictures/{file}", data)

    assert only(compared(paths[0], paths[1]).changes).what == "picture"
    assert compared(paths[0], paths[2]).total == 0


def test_a_version_that_is_not_there(tmp_path: Path) -> None:
    """All of a new text was added, a change a paragraph and table; removed the other way."""
    path = text_file(tmp_path / "a.odt", HEADING + paras(ONE, "") + TABLE.format("1", ""))
    added, removed = compared(None, path).changes, compared(path, None).changes

    assert [(each.kind, each.what) for each in added] == [
        ("added", "paragraph"), ("added", "paragraph"), ("added", "table"),
    ]  # fmt: skip
    assert [each.after for each in added] == [each.before for each in removed]


def test_places_are_found_and_followed(tmp_path: Path) -> None:
    """Titles lead to the places that they are of; both ways, through what came and moved."""
    before = text_file(tmp_path / "a.odt", HEADING + paras(ONE, TWO) + TABLE.format("1", ROW))
    after = text_file(
        tmp_path / "b.odt", paras(THREE) + HEADING + paras(TWO, ONE) + TABLE.format("9", ROW)
    )
    old, new = Source(before, before.name), Source(after, after.name)
    for title, there, is_changed in (
        ("Pricing, paragraph 2", "Pricing, paragraph 4", False),
        ("paragraph 3", "Pricing, paragraph 3", False),
        ("table 1, row 2, column 2", "Pricing, table 1, row 2, column 2", True),
        ("table 1, row 3", "Pricing, table 1, row 3", False),
        ("Pricing", "Pricing, paragraph 2", False),
    ):
        here = FORMAT.locate(old, title)
        (found,) = FORMAT.trace(old, new, (here,), forward=True)
        assert found.place is not None
        assert (found.place.title, found.is_changed) == (there, is_changed)
        (back,) = FORMAT.trace(old, new, (found.place,), forward=False)
        assert back.place == here == FORMAT.locate(old, here.title)
    (gone,) = FORMAT.trace(old, new, (FORMAT.locate(new, "paragraph 1"),), forward=False)

    assert gone.place is None
    for wrong in ("paragraph 9", "table 1, row 9", "table 2", "nowhere", ""):
        with pytest.raises(ValidationFailed):
            FORMAT.locate(old, wrong)


def test_flat_texts_and_damaged_ones(tmp_path: Path) -> None:
    """A text in one file is compared as others are; what is none is refused, on either side."""
    one, other, bad = tmp_path / "a.fodt", tmp_path / "b.fodt", tmp_path / "bad.odt"
    one.write_bytes(flat(BODY))
    other.write_bytes(flat(BODY.replace("pears", "plums")))
    bad.write_bytes(b"no zip")
    rich = text_file(tmp_path / "rich.odt", BODY, automatic=AUTOMATIC)

    assert only(compared(one, other).changes).words[-1] == ("added", "plums")
    for pair in ((rich, bad), (bad, rich), (None, bad), (bad, None)):
        with pytest.raises(FileReadFailed):
            compared(*pair)


LOOKS = "".join(BOLD.format(name, font) for name, font in (("B", "X"), ("C", "Y")))
COLORED = (
    '<style:style style:name="R" style:family="table-cell"><style:table-cell-properties'
    ' style:background="red"/></style:style>'
)
LIST = "<text:list{}><text:list-item><text:p>a</text:p></text:list-item></text:list>"


def saved(date: str) -> str:
    """Return the part that says when a text was saved."""
    return (
        '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:date>{date}</dc:date>'
        "</office:meta></office:document-meta>"
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (LIST.format(' text:continue-numbering="true"'), LIST.format(""),
         {"list continue-numbering": ("true", None)}),
        (f'<text:section text:name="s">{paras(ONE)}</text:section>',
         f'<text:section text:name="s" text:display="none">{paras(ONE)}</text:section>',
         {"section display": (None, "none")}),
    ],
)  # fmt: skip
def test_a_new_date_hides_nothing(
    tmp_path: Path, before: str, after: str, expected: dict[str, Any]
) -> None:
    """What each save writes anew is beside what else differs, not in place of it."""
    found = changes(
        tmp_path, before, after, meta_before=saved("2023-01-01"), meta_after=saved("2024-01-01")
    )

    assert [each.what for each in found] == ["format", "property"]
    assert found[0].details == expected


def test_a_changed_text_hides_no_formatting(tmp_path: Path) -> None:
    """Words that stay are compared in how they look, and where they lead."""
    after = paras('one <text:span text:style-name="B">two</text:span> four')

    found = changes(tmp_path, paras("one two three"), after, automatic=LOOKS)

    assert [(each.what, each.before, each.details) for each in found] == [
        ("paragraph", "one two three", {}), ("format", "two", {"font": (None, "X")}),
    ]  # fmt: skip


def test_a_changed_cell_hides_no_formatting_of_its_table(tmp_path: Path) -> None:
    """A cell that has another color beside is told, at least of the table."""
    before, after = TABLE.format("341.60", ""), TABLE.format("314.60", "")
    after = after.replace("<table:table-cell>", '<table:table-cell table:style-name="R">', 1)

    found = changes(tmp_path, before, after, automatic=COLORED)

    assert [each.what for each in found] == ["cell", "format"]


@pytest.mark.parametrize(
    ("before", "after", "automatic"),
    [
        (paras("one two"), paras("one <text:span>two</text:span>"), LOOKS),
        (paras('<text:span text:style-name="B">one two</text:span>'),
         paras('<text:span text:style-name="B">one </text:span>'
               '<text:span text:style-name="B">two</text:span>'), LOOKS),
        (paras("one"), paras("one"), LOOKS + BOLD.format("D", "Z")),
        (paras("one"), paras("one"), BOLD.format("C", "Y") + BOLD.format("B", "X")),
    ],
)  # fmt: skip
def test_the_same_in_other_elements_is_no_change(
    tmp_path: Path, before: str, after: str, automatic: str
) -> None:
    """Text may be divided anywhere, and automatic styles come in any order, used or not."""
    assert changes(
        tmp_path, before, after, automatic_before=LOOKS, automatic_after=automatic
    ) == ()  # fmt: skip


def test_what_a_style_says_for_other_scripts_is_told(tmp_path: Path) -> None:
    """Unless it is what it says for all."""
    style = (
        '<style:style style:name="S" style:family="paragraph"><style:text-properties'
        ' style:font-name-asian="{}"/></style:style>'
    )
    found = only(changes(
        tmp_path, paras("x"), paras("x"), styles_before=styles(style.format("A")),
        styles_after=styles(style.format("B")),
    ))  # fmt: skip

    assert found.details == {"font-name-asian": ("A", "B")}


LEVELS = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1">'
    '<style:list-level-properties text:indent="{}"/></text:list-level-style-number>'
    '<text:list-level-style-number text:level="2"><style:list-level-properties'
    ' text:indent="9cm"/></text:list-level-style-number></text:list-style>'
)
STOPS = (
    '<style:style style:name="S" style:family="paragraph"><style:paragraph-properties>'
    '<style:tab-stops><style:tab-stop style:position="{}"/><style:tab-stop style:position="9cm"/>'
    "</style:tab-stops></style:paragraph-properties></style:style>"
)


@pytest.mark.parametrize("style", [LEVELS, STOPS])
def test_each_level_and_tab_stop_of_a_style_is_compared(tmp_path: Path, style: str) -> None:
    """Not the last of them alone."""
    found = only(changes(
        tmp_path, paras("x"), paras("x"), styles_before=styles(style.format("1cm")),
        styles_after=styles(style.format("2cm")),
    ))  # fmt: skip

    assert list(found.details.values()) == [("1cm", "2cm")]
