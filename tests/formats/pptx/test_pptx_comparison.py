"""Comparison of decks: each change that is made is found, named, and nothing else is."""

import copy
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.dml.color import RGBColor
from pptx.util import Inches, Pt

from compared_decks import (
    changes_of,
    chart_data,
    compared,
    full_deck,
    planted,
    rewritten,
    source,
    told,
    written_otherwise,
)
from deck_edits import FORMAT, edit, talk_deck
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import CompareOptions

COLOUR: Any = RGBColor


def named(deck: Any, word: str) -> Any:
    """Return the shape of the third slide with a word in its name."""
    return next(shape for shape in deck.slides[2].shapes if word in shape.name)


def first_run(deck: Any) -> Any:
    return deck.slides[0].shapes.title.text_frame.paragraphs[0].runs[0]


def blue_picture(deck: Any, folder: Path) -> None:
    picture = named(deck, "Picture")
    _, id_ = picture.part.get_or_add_image_part(str(folder / "blue.png"))
    picture._element.blipFill.blip.rEmbed = id_


def more_cost(deck: Any) -> None:
    named(deck, "Chart").chart.replace_data(chart_data(9))


def row_inserted(deck: Any) -> None:
    table = named(deck, "Table").table._tbl
    row = copy.deepcopy(table.tr_lst[1])
    for text in row.iter("{*}t"):
        text.text = "new"
    table.insert(list(table).index(table.tr_lst[1]), row)


def column_removed(deck: Any) -> None:
    table = named(deck, "Table").table._tbl
    table.tblGrid.remove(table.tblGrid[1])
    for row in table.tr_lst:
        row.remove(row.tc_lst[1])


def row_filled(deck: Any) -> None:
    for column in range(3):
        fill = named(deck, "Table").table.cell(0, column).fill
        fill.solid()
        fill.fore_color.rgb = COLOUR(255, 0, 0)


def last_to_front(deck: Any) -> None:
    tree = deck.slides[2].shapes._spTree
    first = tree[2]
    tree.remove(first)
    tree.append(first)


def bold_off(deck: Any) -> None:
    first_run(deck).font.bold = False
    first_run(deck).font.size = Pt(20)


def turned(deck: Any) -> None:
    shape = deck.slides[2].shapes[0]
    shape.left, shape.rotation = Inches(2), 30


def renamed(deck: Any) -> None:
    deck.slides[2].shapes[0].name = "Claim"


def shape_removed(deck: Any) -> None:
    element = deck.slides[2].shapes[0]._element
    element.getparent().remove(element)


def background_filled(deck: Any) -> None:
    fill = deck.slides[0].background.fill
    fill.solid()
    fill.fore_color.rgb = COLOUR(9, 9, 9)


PLANTED: dict[str, tuple[Callable[[Any], object], list[tuple[str, str, str]]]] = {
    "nothing": (lambda _: None, []),
    "format": (bold_off, [("changed", "format", "slide 1, Title 1")]),
    "link": (
        lambda deck: setattr(first_run(deck).hyperlink, "address", "http://x.y/"),
        [("added", "link", "slide 1, Title 1")],
    ),
    "cell": (
        lambda deck: setattr(named(deck, "Table").table.cell(1, 1), "text", "changed"),
        [("changed", "cell", "slide 3, Table 2, row 2, column 2")],
    ),
    "row": (row_inserted, [("added", "row", "slide 3, Table 2, row 2")]),
    "column": (column_removed, [("removed", "column", "slide 3, Table 2, column 2")]),
    "row format": (row_filled, [("changed", "format", "slide 3, Table 2, row 1")]),
    "position": (turned, [("changed", "position", "slide 3, TextBox 1")]),
    "order": (last_to_front, [("moved", "order", "slide 3, TextBox 1")]),
    "name": (renamed, [("changed", "shape", "slide 3, Claim")]),
    "shape": (shape_removed, [("removed", "shape", "slide 3, TextBox 1")]),
    "hidden": (
        lambda deck: deck.slides[1]._element.set("show", "0"),
        [("changed", "slide", "slide 2")],
    ),
    "background": (background_filled, [("added", "background", "slide 1, background")]),
    "notes": (
        lambda deck: setattr(deck.slides[1].notes_slide.notes_text_frame, "text", "Say this"),
        [("removed", "notes", "slide 2, notes, paragraph 2")],
    ),
    "size": (
        lambda deck: setattr(deck, "slide_width", Inches(13)),
        [("changed", "slide size", "slide size")],
    ),
    "property": (
        lambda deck: setattr(deck.core_properties, "title", "T"),
        [("added", "property", "property title")],
    ),
    "layout": (
        lambda deck: setattr(deck.slide_layouts[1].placeholders[0], "left", Inches(3)),
        [("changed", "layout", "layout Title and Content")],
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_is_named_alone(tmp_path: Path, name: str) -> None:
    """What another program changed is found where it is, and nothing else is."""
    change, wanted = PLANTED[name]
    deck = full_deck(tmp_path)

    assert [told(each) for each in changes_of(deck, planted(deck, change))] == wanted


def test_details_have_the_names_of_the_tools(tmp_path: Path) -> None:
    """Formatting is told as tools take it, places in inches, with what was and what is."""
    deck = full_deck(tmp_path)

    assert changes_of(deck, planted(deck, bold_off))[0].details == {
        "bold": (True, False),
        "font_size": (33, 20),
    }
    assert changes_of(deck, planted(deck, turned))[0].details == {
        "left": (1, 2),
        "rotation": (0, 30),
    }


def test_a_chart_tells_its_values(tmp_path: Path) -> None:
    """A value of a series is told by its category, and the workbook behind it beside."""
    deck = full_deck(tmp_path)

    series, behind = changes_of(deck, planted(deck, more_cost))

    assert told(series) == ("changed", "series", "slide 3, Chart 3")
    assert series.details == {"Q3": (3, 9)}
    assert behind.what == "object"


def test_a_picture_is_told_by_its_bytes(tmp_path: Path) -> None:
    """Another picture in the same frame is one change, with both hashes."""
    deck = full_deck(tmp_path)

    (change,) = changes_of(deck, planted(deck, lambda each: blue_picture(each, tmp_path)))

    assert told(change) == ("changed", "picture", "slide 3, Picture 4")
    assert change.before["sha256"] != change.after["sha256"]


def test_words_of_a_text_are_told(tmp_path: Path) -> None:
    """A changed paragraph has its words; one that is new is one change, with its text."""
    deck = talk_deck(tmp_path / "talk.pptx")

    def change(each: Any) -> None:
        frame = each.slides[0].placeholders[1].text_frame
        frame.paragraphs[1].runs[0].text = "Deeper still"
        frame.add_paragraph().text = "New"

    changed, added = changes_of(deck, planted(deck, change))

    assert changed.words == (("equal", "Deeper"), ("added", " still"))
    assert (changed.place.slide, changed.place.paragraph) == (0, 1)
    assert (told(added)[:2], added.after, added.place.paragraph) == (
        ("added", "paragraph"), "New", 3
    )  # fmt: skip


def test_how_runs_are_cut_is_no_change(tmp_path: Path) -> None:
    """A run that a program cut in two of the same formatting is the same text."""
    deck = talk_deck(tmp_path / "talk.pptx")

    def cut(each: Any) -> None:
        paragraph = each.slides[0].shapes.title.text_frame.paragraphs[0]
        second = copy.deepcopy(paragraph.runs[0]._r)
        paragraph.runs[0].text = "Old "
        paragraph._p.append(second)
        paragraph.runs[1].text = "title"

    assert changes_of(deck, planted(deck, cut)) == ()


def test_how_a_package_is_written_is_no_change(tmp_path: Path) -> None:
    """Other bytes of equal contents are equal: order of parts, of attributes, declarations."""
    deck = full_deck(tmp_path)
    other = rewritten(deck, tmp_path / "other.pptx", written_otherwise)

    assert other.read_bytes() != deck.read_bytes()
    assert compared(deck, other).total == 0


def test_a_part_that_nobody_reads_is_told(tmp_path: Path) -> None:
    """A part that is new, gone or different is a change of that name."""
    deck = full_deck(tmp_path)

    def change(name: str, data: bytes) -> bytes | None:
        if name == "ppt/viewProps.xml":
            return None
        return data + b" " if name == "docProps/thumbnail.jpeg" else data

    other = rewritten(deck, tmp_path / "other.pptx", change)

    assert [told(each) for each in changes_of(deck, other)] == [
        ("changed", "part", "part docProps/thumbnail.jpeg"),
        ("removed", "part", "part ppt/viewProps.xml"),
    ]


def test_slides_are_followed_through_operations(tmp_path: Path) -> None:
    """A moved, an added and a removed slide are one change each."""
    deck = full_deck(tmp_path)
    out = tmp_path / "out.pptx"
    edit(
        deck,
        {"op": "move_slide", "index": 2, "to": 0},
        {"op": "add_slide", "title": "Added", "index": 2},
        to=out,
    )
    less = tmp_path / "less.pptx"
    edit(deck, {"op": "delete_slide", "index": 1}, to=less)

    moved, added = changes_of(deck, out)
    (removed,) = changes_of(deck, less)

    assert told(moved) == ("moved", "slide", "slide 1")
    assert moved.moved_from is not None
    assert moved.moved_from.slide == 2
    assert (told(added), added.after) == (("added", "slide", "slide 3"), "Added")
    assert told(removed) == ("removed", "slide", "slide 2")
    assert "Say this" in removed.before


def test_slides_that_a_program_numbered_anew_are_found(tmp_path: Path) -> None:
    """Where ids and parts of slides shift, contents tell which slide is gone."""
    deck = full_deck(tmp_path)

    def shift(each: Any) -> None:
        slides = each.slides._sldIdLst
        first = slides[0]
        each.part.drop_rel(first.rId)
        slides.remove(first)
        for number, slide in enumerate(slides):
            slide.set("id", str(256 + number))
        each.part.rename_slide_parts([slide.rId for slide in slides])

    found = changes_of(deck, planted(deck, shift))

    assert [told(each) for each in found] == [("removed", "slide", "slide 1")]


def test_a_new_and_a_deleted_deck_are_told_by_slides(tmp_path: Path) -> None:
    """Without the other version each slide is one change, with its text."""
    deck = full_deck(tmp_path)

    added, removed = compared(None, deck).changes, compared(deck, None).changes

    assert [told(each) for each in added] == [("added", "slide", f"slide {n}") for n in (1, 2, 3)]
    assert [told(each)[:2] for each in removed] == [("removed", "slide")] * 3
    assert [each.after for each in added] == [each.before for each in removed]
    assert "Say this" in str(added[1].after)


def test_texts_are_rebuilt_from_changes(tmp_path: Path) -> None:
    """The changes of a body, applied to what it was, make what it is; seeded edits of lines."""
    draw = random.Random(20)
    for number in range(12):
        before = [f"line {n} has {draw.randrange(9)} words" for n in range(draw.randint(1, 8))]
        after = list(before)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(after) + 1)
            match draw.randrange(4):
                case 0:
                    after.insert(at, f"fresh {number} {at} {draw.random()}")
                case 1 if len(after) > 1:
                    after.pop(at % len(after))
                case 2:
                    after[at % len(after)] += f" and {draw.randrange(99)}"
                case _:
                    after.append(after.pop(at % len(after)))
        paths = [tmp_path / "before.pptx", tmp_path / "after.pptx"]
        for path, lines in zip(paths, (before, after), strict=True):
            deck: Any = pptx.Presentation()
            slide = deck.slides.add_slide(deck.slide_layouts[1])
            slide.placeholders[1].text_frame.text = "\n".join(lines)
            deck.save(str(path))

        assert rebuilt(before, changes_of(*paths)) == after, (before, after)


def rebuilt(lines: list[str], found: Any) -> list[str]:
    """Apply changes of paragraphs to lines."""
    gone = {each.place.paragraph or 0 for each in found if each.kind == "removed"}
    gone |= {each.moved_from.paragraph for each in found if each.kind == "moved"}
    made = [line for at, line in enumerate(lines) if at not in gone]
    for each in found:
        if each.kind in ("added", "moved"):
            made.insert(each.place.paragraph or 0, each.after or "")
    for each in found:
        if each.kind == "changed":
            made[each.place.paragraph or 0] = each.after
    return made


def test_cells_are_rebuilt_from_changes(tmp_path: Path) -> None:
    """The changes of a table, applied to what it was, make what it is; seeded cells."""
    draw = random.Random(4)
    deck = full_deck(tmp_path)
    for _ in range(5):
        cells = {(draw.randrange(3), draw.randrange(3)): f"v{draw.random()}" for _ in range(4)}

        def fill(each: Any, cells: dict[tuple[int, int], str] = cells) -> None:
            for (row, column), text in cells.items():
                named(each, "Table").table.cell(row, column).text = text

        found = changes_of(deck, planted(deck, fill))

        assert {each.what for each in found} <= {"cell", "row"}
        after = [[f"r{row}c{column}" for column in range(3)] for row in range(3)]
        after = [
            row
            for at, row in enumerate(after)
            if (at, "removed") not in {(each.place.row, each.kind) for each in found}
        ]
        for each in found:
            if each.what == "row" and each.kind == "added":
                after.insert(each.place.row or 0, list(each.after))
        for each in found:
            if each.what == "cell":
                after[each.place.row or 0][int(each.place.column or 0)] = each.after
        wanted = [[cells.get((r, c), f"r{r}c{c}") for c in range(3)] for r in range(3)]
        assert after == wanted


def test_options_are_refused(tmp_path: Path) -> None:
    """A deck has no sheets and no keys; who gives one is told so."""
    deck = source(talk_deck(tmp_path / "talk.pptx"))

    with pytest.raises(ValidationFailed, match="takes no sheet"):
        FORMAT.compare(deck, deck, CompareOptions(sheet="Data"))


def test_damaged_versions_are_refused_or_told(tmp_path: Path) -> None:
    """A file that is no deck is refused; a slide that is missing is told as a change."""
    deck = full_deck(tmp_path)
    torn = tmp_path / "torn.pptx"
    torn.write_bytes(deck.read_bytes()[:5_000])
    less = rewritten(
        deck, tmp_path / "less.pptx", lambda name, data: None if "slide2.xml" in name else data
    )
    bad = rewritten(
        deck,
        tmp_path / "bad.pptx",
        lambda name, data: data[:300] if name == "ppt/slides/slide2.xml" else data,
    )

    for pair in ((deck, torn), (torn, deck), (None, torn), (torn, None)):
        with pytest.raises(FileReadFailed):
            compared(*pair)
    for other in (less, bad):
        found = compared(deck, other)
        assert "slide 2" in {each.place.title for each in found.changes}
        assert any("Slide 2" in warning for warning in found.warnings)
        assert compared(other, deck).total


def with_main(deck: Path, target: Path, old: str, new: str, part: str) -> Path:
    """Write a deck again with a text of one part replaced."""

    def change(name: str, data: bytes) -> bytes:
        if name != part:
            return data
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return rewritten(deck, target, change)


def test_transitions_and_sections_are_told(tmp_path: Path) -> None:
    """A transition is told of its slide, a section with the slides that are in it."""
    deck = full_deck(tmp_path)
    slide, main = "ppt/slides/slide1.xml", "ppt/presentation.xml"
    fading = '<p:transition spd="slow"><p:fade/></p:transition></p:sld>'
    faded = with_main(deck, tmp_path / "faded.pptx", "</p:sld>", fading, slide)
    name = "http://schemas.microsoft.com/office/powerpoint/2010/main"
    section = (
        f'<p:extLst><p:ext uri="{{521415D9}}"><p14:sectionLst xmlns:p14="{name}"><p14:section '
        'name="Intro" id="{1}"><p14:sldIdLst><p14:sldId id="256"/></p14:sldIdLst></p14:section>'
        "</p14:sectionLst></p:ext></p:extLst></p:presentation>"
    )
    parted = with_main(
        rewritten(deck, tmp_path / "bare.pptx", without_extensions),
        tmp_path / "parted.pptx", "</p:presentation>", section, main,
    )  # fmt: skip

    (transition,) = changes_of(deck, faded)
    (added,) = changes_of(tmp_path / "bare.pptx", parted)

    assert told(transition) == ("added", "transition", "slide 1, transition")
    assert transition.after == "fade slow"
    assert (told(added), added.after) == (("added", "section", "section Intro"), ["slide 1"])


def without_extensions(name: str, data: bytes) -> bytes:
    if name != "ppt/presentation.xml":
        return data
    start, end = data.find(b"<p:extLst"), data.find(b"</p:extLst>")
    return data if start < 0 else data[:start] + data[end + len(b"</p:extLst>") :]


def test_a_layout_with_a_new_name_is_the_same(tmp_path: Path) -> None:
    """That is one change of the layout, and none of the slides that use it."""
    deck = full_deck(tmp_path)

    def rename(each: Any) -> None:
        each.slide_layouts[1].name = "Claim and proof"

    (change,) = changes_of(deck, planted(deck, rename))

    assert told(change) == ("changed", "layout", "layout Claim and proof")
    assert change.details == {"name": ("Title and Content", "Claim and proof")}


def test_comments_are_told(tmp_path: Path) -> None:
    """A comment that is new or says something else is told with its author."""
    deck = full_deck(tmp_path)

    def commented(target: str, text: str) -> Path:
        name = "http://schemas.openxmlformats.org"
        kind = f"{name}/officeDocument/2006/relationships/comments"
        body = (
            f'<p:cmLst xmlns:p="{name}/presentationml/2006/main"><p:cm authorId="0" '
            f'dt="2024-01-31T10:00:00"><p:text>{text}</p:text></p:cm></p:cmLst>'
        )

        def change(part: str, data: bytes) -> bytes:
            if part == "ppt/slides/_rels/slide1.xml.rels":
                link = f'<Relationship Id="c" Type="{kind}" Target="../c.xml"/></Relationships>'
                return data.replace(b"</Relationships>", link.encode())
            return body.encode() if part == "ppt/c.xml" else data

        spare = tmp_path / f"spare-{target}"
        spare.write_bytes(deck.read_bytes())
        with zipfile.ZipFile(spare, "a") as archive:
            archive.writestr("ppt/c.xml", body)
        return rewritten(spare, tmp_path / target, change)

    first, second = commented("one.pptx", "Please check"), commented("two.pptx", "Please check it")

    (added,), (changed,) = changes_of(deck, first), changes_of(first, second)

    assert (told(added), added.after) == (
        ("added", "comment", "slide 1, comment 1"), "Please check"
    )  # fmt: skip
    assert told(changed) == ("changed", "comment", "slide 1, comment 1")
    assert changed.words == (("equal", "Please check"), ("added", " it"))
    assert FORMAT.locate(source(first), "slide 1, comment 1") == added.place
