"""Slides as text and as objects: what a reader sees, in the order of a reader."""

from pathlib import Path

import msgspec
import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Region, Source
from kbd_pptx import PptxFormat
from kbd_pptx.reader import regions
from read_decks import box, deck, frame, paragraph, placeholder, relations, shape, slide_xml

FORMAT = PptxFormat()

CHART = """<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx>
</c:title><c:plotArea><c:barChart><c:barDir val="bar"/>
<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>East</c:v></c:pt></c:strCache></c:strRef>
</c:tx><c:cat><c:numRef><c:numCache><c:formatCode>d\\.m\\.yyyy</c:formatCode>
<c:pt idx="0"><c:v>45292</c:v></c:pt><c:pt idx="1"><c:v>45293.5</c:v></c:pt></c:numCache></c:numRef>
</c:cat><c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode>
<c:pt idx="1"><c:v>7.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart>
<c:lineChart><c:ser><c:val><c:numLit><c:pt idx="0"><c:v>1</c:v></c:pt></c:numLit></c:val></c:ser>
</c:lineChart></c:plotArea></c:chart>"""


def chart_part(inner: str) -> str:
    names = slide_xml().split("<p:sld ")[1].split(" show=")[0]
    return f"<c:chartSpace {names}>{inner}</c:chartSpace>"


def root(tag: str, inner: str) -> str:
    return chart_part(inner).replace("c:chartSpace", tag)


def read(source: Source, index: int | None = 0) -> str:
    return FORMAT.read(source, Region(slide_index=index)).text


def test_the_title_comes_first_and_footers_last(tmp_path: Path) -> None:
    """Wherever they stand in the file: the title, then the rest, then date, footer, number."""
    found = deck(tmp_path, [slide_xml(
        placeholder("sldNum", '<a:p><a:fld type="slidenum"><a:t>99</a:t></a:fld></a:p>'),
        placeholder("ftr", "Secret"),
        shape("Below", at=(1, 4, 2, 1)),
        placeholder("title", "The title"),
    )])  # fmt: skip

    assert read(found) == "The title\n\nBelow\n\nSlide number: 1\n\nFooter: Secret"


def test_columns_are_read_down_one_after_the_other(tmp_path: Path) -> None:
    """Two columns of boxes, in any order of the file, are read a column at a time."""
    found = deck(tmp_path, [slide_xml(
        shape("right below", at=(5, 4, 3, 1)), shape("left", at=(1, 2.05, 3, 1)),
        shape("right", at=(5, 2, 3, 1.2)), shape("left below", at=(1, 3.3, 3, 2)),
    )])  # fmt: skip

    assert read(found).split("\n\n") == ["left", "left below", "right", "right below"]


def test_rows_are_read_across_where_they_are_further_apart(tmp_path: Path) -> None:
    """Boxes near each other, in rows far apart, are read a row at a time."""
    found = deck(tmp_path, [slide_xml(
        shape("d", at=(3.2, 4, 2, 1)), shape("b", at=(3.2, 1, 2, 1)),
        shape("c", at=(1, 4, 2, 1)), shape("a", at=(1, 1, 2, 1)),
    )])  # fmt: skip

    assert read(found).split() == ["a", "b", "c", "d"]


def test_shapes_without_a_place_follow_the_one_before(tmp_path: Path) -> None:
    """The order of the file counts where no place is given; an empty card orders nothing."""
    found = deck(tmp_path, [slide_xml(
        shape(at=(0, 0, 9, 7)),
        shape("second", at=(1, 4, 2, 1)), shape("after second"), shape("first", at=(1, 1, 2, 1)),
    )])  # fmt: skip

    assert read(found).split("\n\n") == ["first", "second", "after second"]


def test_embedded_objects_are_named(tmp_path: Path) -> None:
    """The program that made one is told, and that its contents are not shown."""
    uri = "http://schemas.openxmlformats.org/presentationml/2006/ole"
    held = frame("x", '<p:oleObj progId="Excel.Sheet.12"/>').replace(
        "http://schemas.openxmlformats.org/x", uri
    )

    answer = FORMAT.read(deck(tmp_path, [slide_xml(held)]), Region())

    assert answer.text == "[Embedded object: Excel.Sheet.12]"
    assert "not shown" in answer.warnings[0]


def test_bullets_and_levels_come_from_slide_layout_and_master(tmp_path: Path) -> None:
    """A bullet of the master is shown, one that the layout takes away is not; levels indent."""
    numbered = '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>'
    found = deck(tmp_path, [slide_xml(
        placeholder(
            "", "one", paragraph("deeper", '<a:pPr lvl="1"/>'), "<a:p/>",
            paragraph("plain", "<a:pPr><a:buNone/></a:pPr>"),
            paragraph("n1", numbered), paragraph("n2", numbered), index=1,
        ),
        placeholder("body", "no bullet", index=13, where=box(1, 6, 2, 1)),
        shape("a", "<a:p><a:r><a:t>x</a:t></a:r><a:br/><a:r><a:t>y</a:t></a:r></a:p>",
              at=(1, 7, 2, .4)),
    )])  # fmt: skip

    assert read(found) == (
        "- one\n  - deeper\nplain\n1. n1\n2. n2\n\nno bullet\n\na\nx\ny"
    )  # fmt: skip


def test_tables_are_rows(tmp_path: Path) -> None:
    """Cells are apart by bars, a covered one is empty, what is said of spans is not believed."""
    cell = "<a:tc{}><a:txBody>{}</a:txBody></a:tc>"
    rows = [
        cell.format(' gridSpan="1000000000"', paragraph("wide")) + cell.format(' hMerge="1"', ""),
        cell.format("", paragraph("x") + paragraph("y")) + cell.format("", paragraph("2")),
    ]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    found = deck(tmp_path, [slide_xml(frame("drawingml/2006/table", table))])

    objects = FORMAT.objects(found, Region()).objects

    assert read(found) == "wide | \nx / y | 2"
    assert objects is not None
    assert objects["tables"][0]["rows"] == [["wide", ""], ["x\ny", "2"]]
    assert objects["tables"][0]["column_count"] == 2


def test_charts_show_their_values(tmp_path: Path) -> None:
    """A chart is its title, its kinds and a table of what was kept in it; days are days."""
    named = relations(("c", "chart", "../c.xml"))
    inner = frame("drawingml/2006/chart", '<c:chart r:id="c"/>')
    found = deck(
        tmp_path, [slide_xml(inner)], named={0: named}, parts={"ppt/c.xml": chart_part(CHART)}
    )

    objects = FORMAT.objects(found, Region()).objects

    assert read(found) == (
        "[Chart: Sales, bar and line]\n | East | \n2024-01-01 |  | 1\n2024-01-02T12:00:00 | 7.5 | "
    )
    assert objects is not None
    assert objects["charts"][0]["series"][0]["values"] == [None, 7.5]


def dated_chart(folder: Path, system: str, *days: str) -> str:
    """Read a chart of such categories, in days of a date system."""
    points = "".join(f'<c:pt idx="{i}"><c:v>{day}</c:v></c:pt>' for i, day in enumerate(days))
    part = chart_part(
        f"{system}<c:chart><c:plotArea><c:lineChart><c:ser><c:cat><c:numLit><c:formatCode>d/m/yy"
        f"</c:formatCode>{points}</c:numLit></c:cat></c:ser></c:lineChart></c:plotArea></c:chart>"
    )
    inner = frame("drawingml/2006/chart", '<c:chart r:id="c"/>')
    named = relations(("c", "chart", "../c.xml"))
    found = deck(folder, [slide_xml(inner)], named={0: named}, parts={"ppt/c.xml": part})
    return read(found).split("| \n", 1)[1].replace(" | ", "")


@pytest.mark.parametrize("system", ["<c:date1904/>", '<c:date1904 val="true"/>'])
def test_charts_may_count_their_days_from_1904(tmp_path: Path, system: str) -> None:
    """Days are those that people see, also where a chart counts them from 1904."""
    assert dated_chart(tmp_path, system, "1", "43830", "43831.5", "2957003", "2957004") == (
        "1904-01-02\n2024-01-01\n2024-01-02T12:00:00\n9999-12-31\n2957004"
    )


@pytest.mark.parametrize("system", ["", '<c:date1904 val="0"/>'])
def test_the_first_days_of_1900_in_charts(tmp_path: Path, system: str) -> None:
    """Day 1 is the first of January 1900; one that no calendar has moves no day before it."""
    assert dated_chart(tmp_path, system, "1", "1.25", "59", "61", "2958465", "2958465.9999999") == (
        "1900-01-01\n1900-01-01T06:00:00\n1900-02-28\n1900-03-01\n9999-12-31\n2958465.9999999"
    )


def later_chart(folder: Path, categories: str, values: str) -> str:
    """Read a chart of the kinds of 2014 with such points, in the alternative that holds it."""
    cx = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    data = (
        f'<cx:chartSpace xmlns:cx="{cx}"><cx:chartData><cx:data id="0"><cx:strDim type="cat">'
        f'<cx:lvl>{categories}</cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl>{values}'
        "</cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart>"
        '<cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:v>'
        'Cash</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion>'
        "</cx:plotArea></cx:chart></cx:chartSpace>"
    )
    inner = frame("x", f'<cx:chart xmlns:cx="{cx}" r:id="c"/>').replace(
        "http://schemas.openxmlformats.org/x", cx
    )
    choice = f"<mc:AlternateContent><mc:Choice>{inner}</mc:Choice><mc:Fallback>{shape('old')}"
    found = deck(
        folder,
        [slide_xml(f"{choice}</mc:Fallback></mc:AlternateContent>")],
        named={0: relations(("c", "chartEx", "../c.xml"))},
        parts={"ppt/c.xml": data},
    )
    return read(found)


def test_a_later_chart_shows_its_values(tmp_path: Path) -> None:
    """Charts of the kinds of 2014 are read, too, and each point stands where it belongs."""
    names = "".join(f'<cx:pt idx="{i}">{each}</cx:pt>' for i, each in enumerate(("A", "B", "C")))
    values = '<cx:pt idx="2">12</cx:pt><cx:pt idx="0">7</cx:pt>'

    assert later_chart(tmp_path, names, values) == (
        "[Chart: Frame, waterfall]\n | Cash\nA | 7\nB | \nC | 12"
    )


@pytest.mark.parametrize("places", [range(300), range(0, 300, 2)])
def test_charts_that_go_on_tell_so(tmp_path: Path, places: range) -> None:
    """Of a longer chart the first points are shown, which is told, whatever its kind."""
    points = "".join(f'<cx:pt idx="{i}">{i}</cx:pt>' for i in places)
    part = CHART.replace(
        '<c:pt idx="0"><c:v>1</c:v></c:pt>',
        "".join(f'<c:pt idx="{i}"><c:v>{i}</c:v></c:pt>' for i in places),
    )
    inner = frame("drawingml/2006/chart", '<c:chart r:id="c"/>')
    named = relations(("c", "chart", "../c.xml"))
    parts = {"ppt/c.xml": chart_part(part)}

    later = later_chart(tmp_path, "", points).splitlines()
    older = read(deck(tmp_path, [slide_xml(inner)], named={0: named}, parts=parts)).splitlines()

    assert [each[-1] for each in (later, older)] == [
        "[The chart goes on; 200 rows of it are shown.]"
    ] * 2
    assert [each[200].rpartition(" ")[2] for each in (later, older)] == ["198"] * 2


def test_smartart_is_a_list(tmp_path: Path) -> None:
    """The points of a diagram stand below each other as its connections say, loops and all."""

    def point(id_: str, text: str, type_: str = "node") -> str:
        return f'<dgm:pt modelId="{id_}" type="{type_}"><dgm:t>{paragraph(text)}</dgm:t></dgm:pt>'

    def below(top: str, point: str, order: int = 0) -> str:
        return f'<dgm:cxn srcId="{top}" destId="{point}" srcOrd="{order}"/>'

    data = root("dgm:dataModel", "".join((
        "<dgm:ptLst>", point("0", "", "doc"), point("b", "Second"), point("a", "First"),
        point("c", "Under first"), point("p", "never shown", "parTrans"), point("z", "Alone"),
        "</dgm:ptLst><dgm:cxnLst>", below("0", "b", 1), below("0", "a"), below("a", "c"),
        below("c", "a"), "</dgm:cxnLst>",
    )))  # fmt: skip
    inner = frame("drawingml/2006/diagram", '<dgm:relIds r:dm="d"/>')
    named = relations(("d", "diagramData", "../d.xml"))
    found = deck(tmp_path, [slide_xml(inner)], named={0: named}, parts={"ppt/d.xml": data})

    assert read(found) == "[Diagram: Frame]\n- First\n  - Under first\n- Second\n- Alone"


def test_points_of_one_order_stay_as_they_come(tmp_path: Path) -> None:
    """Where connections do not say which point is before the other, the file's order counts."""
    points = "".join(
        f'<dgm:pt modelId="{id_}"{kind}><dgm:t>{paragraph(text)}</dgm:t></dgm:pt>'
        for id_, kind, text in (
            ("0", ' type="doc"', ""), ("a", "", "A"), ("b", "", "B"), ("c", "", "C"), ("d", "", "D")
        )
    )  # fmt: skip
    ends = (("d", ' srcOrd="2"'), ("b", ""), ("c", ' srcOrd="0"'), ("a", ' srcOrd="2"'))
    lines = "".join(f'<dgm:cxn srcId="0" destId="{id_}"{order}/>' for id_, order in ends)
    data = root("dgm:dataModel", f"<dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{lines}</dgm:cxnLst>")
    inner = frame("drawingml/2006/diagram", '<dgm:relIds r:dm="d"/>')
    named = relations(("d", "diagramData", "../d.xml"))
    found = deck(tmp_path, [slide_xml(inner)], named={0: named}, parts={"ppt/d.xml": data})

    assert read(found) == "[Diagram: Frame]\n- B\n- C\n- D\n- A"


def test_formulas_are_their_letters(tmp_path: Path) -> None:
    """A formula in a text is read, and not its picture for older programs."""
    math = (
        "<a:p><a:r><a:t>so </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m><m:r><m:t>a+b</m:t>"
        "</m:r></a14:m></mc:Choice><mc:Fallback><a:r><a:t>?</a:t></a:r></mc:Fallback>"
        "</mc:AlternateContent></a:p>"
    )

    assert read(deck(tmp_path, [slide_xml(shape(math))])) == "so a+b"


def test_what_is_unseen_is_labelled(tmp_path: Path) -> None:
    """Hidden slides and shapes, what lies outside, notes and comments are shown as such."""
    notes = root("p:notes", "<p:cSld><p:spTree>" + placeholder("sldNum", "7") +
                 placeholder("body", "Say this.", index=1) + "</p:spTree></p:cSld>")  # fmt: skip
    said = root(
        "p:cmLst", '<p:cm authorId="0" dt="2024-05-06T07:08:09"><p:text>Too long</p:text></p:cm>'
    )
    found = deck(
        tmp_path,
        [slide_xml(
            shape("seen", at=(1, 1, 2, 1)), shape("off", at=(11, 1, 2, 1)),
            shape("behind", at=(1, 3, 2, 1), more='name="x" hidden="1"'), show="0",
        )],
        named={0: relations(("n", "notesSlide", "../n.xml"), ("k", "comments", "../k.xml"))},
        parts={"ppt/n.xml": notes, "ppt/k.xml": said},
    )  # fmt: skip

    assert read(found) == (
        "[This slide is hidden.]\n\nseen\n\n[hidden] behind\n\nOutside of the slide:\noff\n\n"
        "Notes:\nSay this.\n\nComments:\n- unknown, 2024-05-06: Too long"
    )


def test_threaded_comments_name_their_authors(tmp_path: Path) -> None:
    """Comments of the later kind are read with their answers."""
    later = 'xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main"'
    body = "<p188:txBody>{}</p188:txBody>"
    said = root(
        f"p188:cmLst {later}",
        f'<p188:cm authorId="A" created="2024-05-06T07:08:09">{body.format(paragraph("Why?"))}'
        f'<p188:replyLst><p188:reply authorId="B">{body.format(paragraph("Because."))}'
        "</p188:reply></p188:replyLst></p188:cm>",
    ).replace(f"</p188:cmLst {later}>", "</p188:cmLst>")
    authors = root(
        f"p188:authorLst {later}", '<p188:author id="A" name="Ann"/><p188:author id="B" name="Bo"/>'
    ).replace(f"</p188:authorLst {later}>", "</p188:authorLst>")
    main = relations(("m", "slideMaster", "masters/m.xml"), ("s0", "slide", "slides/s0.xml"),
                     ("a", "authors", "a.xml"))  # fmt: skip
    found = deck(
        tmp_path,
        [slide_xml(shape("text"))],
        named={0: relations(("k", "comments", "../k.xml"))},
        parts={
            "ppt/k.xml": said, "ppt/a.xml": authors,
            "ppt/_rels/presentation.xml.rels": f"<Relationships xmlns='http://schemas.openxml"
            f"formats.org/package/2006/relationships'>{main}</Relationships>",
        },
    )  # fmt: skip

    assert read(found).endswith("Comments:\n- Ann, 2024-05-06: Why?\n  - Bo: Because.")


def test_links_are_listed(tmp_path: Path) -> None:
    """Where clicking or pointing leads: addresses, other slides, macros."""
    run = '<a:p><a:r><a:rPr><a:hlinkClick r:id="w"/></a:rPr><a:t>our site</a:t></a:r></a:p>'
    carrier = '<p:sp><p:nvSpPr><p:cNvPr id="5" name="{}">{}</p:cNvPr></p:nvSpPr></p:sp>'
    jump = carrier.format("Next", '<a:hlinkHover r:id="j"/>')
    macro = carrier.format("Go", '<a:hlinkClick r:id="" action="ppaction://macro?name=Run"/>')
    named = relations(("w", "hyperlink", "https://example.org/a"), is_external=True) + relations(
        ("j", "slide", "s1.xml")
    )
    found = deck(tmp_path, [slide_xml(shape(run), jump, macro), slide_xml()], named={0: named})

    assert read(found).split("Links:\n")[1].splitlines() == [
        "- our site -> https://example.org/a",
        "- Next -> slide 2 (slide_index 1) (when pointed at)",
        "- Go -> macro?name=Run",
    ]


def test_pictures_are_named_by_their_alternative_text(tmp_path: Path) -> None:
    """A picture is its alternative text, else its name; a linked one names its address."""
    picture = (
        '<p:pic><p:nvPicPr><p:cNvPr id="{}" name="Pic" descr="{}"/><p:cNvPicPr/><p:nvPr/>'
        '</p:nvPicPr><p:blipFill><a:blip r:link="x"/></p:blipFill><p:spPr/></p:pic>'
    )
    named = relations(("x", "image", "file:///there/a.png"), is_external=True)
    found = deck(
        tmp_path,
        [slide_xml(picture.format(4, "A red house"), picture.format(5, ""))],
        named={0: named},
    )

    objects = FORMAT.objects(found, Region(slide_index=0)).objects

    assert read(found) == "[Picture: A red house]\n\n[Picture: Pic]"
    assert objects is not None
    assert [image["alt_text"] for image in objects["images"]] == ["A red house", ""]
    assert objects["images"][0]["linked"] == "file:///there/a.png"


def test_a_short_deck_is_read_whole(tmp_path: Path) -> None:
    """Without a slide_index all slides are given, each under its place."""
    found = FORMAT.read(
        deck(tmp_path, [slide_xml(shape("one")), slide_xml(shape("two"))]), Region()
    )

    assert found.text == "slide 1 (slide_index 0)\n\none\n\n\nslide 2 (slide_index 1)\n\ntwo"
    assert found.chunk_info is None


def test_a_long_deck_gives_its_first_slides(tmp_path: Path) -> None:
    """What does not fit waits for its turn, and the reading says where to go on."""
    text = "x" * (regions.CHUNK_CHARS // 4)
    found = FORMAT.read(deck(tmp_path, [slide_xml(shape(text))] * 9), Region())

    assert found.chunk_info is not None
    assert msgspec.structs.astuple(found.chunk_info) == (0, 9, True, "0-3")
    assert "slide_index 4" in found.warnings[-1]


def test_one_slide_tells_where_it_stands(tmp_path: Path) -> None:
    """A slide is a chunk of its deck."""
    found = FORMAT.read(deck(tmp_path, [slide_xml(shape("x"))] * 3), Region(slide_index=1))

    assert found.chunk_info is not None
    assert msgspec.structs.astuple(found.chunk_info) == (1, 3, True, "1")


@pytest.mark.parametrize("index", [-1, 2, 10**9])
def test_slides_that_are_not_there_are_refused(tmp_path: Path, index: int) -> None:
    """The message names how many there are, and from where they count."""
    found = deck(tmp_path, [slide_xml(), slide_xml()])

    with pytest.raises(ValidationFailed, match=r"has 2 slides.*from 0 to 1"):
        FORMAT.read(found, Region(slide_index=index))


def test_a_deck_without_slides_is_empty(tmp_path: Path) -> None:
    """It is read as nothing, and every slide_index is refused."""
    found = deck(tmp_path, [])

    assert FORMAT.read(found, Region()).text == ""
    with pytest.raises(ValidationFailed, match="no slides"):
        FORMAT.read(found, Region(slide_index=0))


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    """A chart, notes or a layout whose part is gone cost only themselves; a slide is refused."""
    inner = frame("drawingml/2006/chart", '<c:chart r:id="c"/>')
    found = deck(
        tmp_path,
        [slide_xml(inner, shape("still here")), slide_xml()],
        named={0: relations(("c", "chart", "../gone.xml"), ("n", "notesSlide", "../gone2.xml"))},
        without=("ppt/slides/s1.xml", "ppt/l.xml"),
    )

    answer = FORMAT.read(found, Region(slide_index=0))

    assert "[Chart: Frame]" in answer.text
    assert "still here" in answer.text
    assert "chart Frame of slide 1" in answer.warnings[0]
    with pytest.raises(FileReadFailed, match="missing"):
        FORMAT.read(found, Region(slide_index=1))
    assert "slide_index 1" in FORMAT.read(found, Region()).warnings[-1]


def test_passages_hold_every_slide(tmp_path: Path) -> None:
    """Each slide is a passage with its place; one of a damaged slide is left out."""
    found = deck(tmp_path, [slide_xml(shape("one")), "<p:sld", slide_xml(shape("three"))])

    passages = [(passage.place, passage.text) for passage in FORMAT.passages(found)]

    assert passages == [("slide 1 (slide_index 0)", "one"), ("slide 3 (slide_index 2)", "three")]


def test_tiny_text_is_labeled(tmp_path: Path) -> None:
    """Letters of a point or two are for no reader, and said to be so."""
    run = '<a:r><a:rPr sz="{}"/><a:t>{}</a:t></a:r>'
    inner = f"<a:p>{run.format(1800, 'seen ')}{run.format(100, 'obey me')}</a:p>"
    found = deck(tmp_path, [slide_xml(placeholder("body", inner))])

    assert read(found) == "seen [tiny: obey me]"
