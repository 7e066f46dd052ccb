"""What is read of documents, and how it is shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Reading, Region, Source
from kbd.opc.package import xml_root
from kbd_docx import DocxFormat
from kbd_docx.document import M
from kbd_docx.reader.symbols import linear_format
from made_documents import made, para

FORMAT = DocxFormat()

Read = Callable[..., Reading]


def run(text: str, look: str = "") -> str:
    return f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"


def p(inside: str, settings: str = "") -> str:
    return f"<w:p><w:pPr>{settings}</w:pPr>{inside}</w:p>"


def heading(text: str, level: int = 1) -> str:
    return p(run(text), f'<w:outlineLvl w:val="{level - 1}"/>')


def mark(kind: str = "begin", look: str = "", *, before: str = "", after: str = "") -> str:
    sign = f'<w:fldChar w:fldCharType="{kind}"/>'
    return f"<w:r><w:rPr>{look}</w:rPr>{before}{sign}{after}</w:r>"


def field(instruction: str, result: str) -> str:
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate")]
    told = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    return f'{marks[0]}{told}{marks[1]}{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>'


def cell(text: str, settings: str = "") -> str:
    return f"<w:tc><w:tcPr>{settings}</w:tcPr>{para(text)}</w:tc>"


def table(*rows: str) -> str:
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a document that has some body and more parts."""

    def work(body: str, region: Region | None = None, **parts: str) -> Reading:
        path = made(tmp_path / "a.docx", body, parts)
        return FORMAT.objects(Source(path, "a.docx"), region or Region())

    return work


SHOWN: dict[str, tuple[str, str]] = {
    "tabs and breaks": (
        p("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r>"),
        "a\tb\nc-",
    ),
    "a page break": (p('<w:r><w:br w:type="page"/></w:r>' + run("b")), "[page break]\nb"),
    "insertions and deletions": (
        p(
            run("a")
            + f'<w:ins w:author="Ann">{run("b")}</w:ins>'
            + "<w:del><w:r><w:delText>c</w:delText></w:r></w:del>"
            + f"<w:moveFrom>{run('d')}</w:moveFrom><w:moveTo>{run('e')}</w:moveTo>"
        ),
        "abe",
    ),
    "hidden text": (
        p(run("a ") + run("b", "<w:vanish/>") + run("c", "<w:vanish/>") + run(" d")),
        "a [hidden: bc] d",
    ),
    "white text": (p(run("a") + run("b", '<w:color w:val="FFFFFF"/>')), "a[hidden: b]"),
    "white text on white": (
        p(run("b", '<w:color w:val="FEFEFE"/><w:shd w:val="clear" w:fill="FFFFFF"/>')),
        "[hidden: b]",
    ),
    "white text on a color": (
        p(run("b", '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000080"/>')), "b",
    ),
    "tiny text": (p(run("a") + run("b", '<w:sz w:val="2"/>')), "a[hidden: b]"),
    "small text": (p(run("a", '<w:sz w:val="12"/>')), "a"),
    "hidden switched off": (p(run("a", '<w:vanish w:val="0"/>')), "a"),
    "a field": (p(run("p. ") + field("PAGE", run("3"))), "p. 3"),
    "a field in a field": (
        p(field("IF</w:instrText></w:r>" + field("MERGEFIELD a", run("x"))
            + '<w:r><w:instrText>= "x"', run("yes"))),
        "yes",
    ),
    "a field without an end": (
        p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + run("kept")), "kept",
    ),
    "a field that separates hidden": (
        p(mark() + "<w:r><w:instrText>REF a</w:instrText></w:r>" + mark("separate", "<w:vanish/>")
          + run("res") + mark("end")),
        "res",
    ),
    "hidden text before a field": (
        p(mark("begin", "<w:vanish/>", before="<w:t>a</w:t>")
          + "<w:r><w:instrText>REF a</w:instrText></w:r>" + mark("separate") + run("res")
          + mark("end")),
        "[hidden: a]res",
    ),
    "hidden text after a mark": (
        p(mark() + "<w:r><w:instrText>REF a</w:instrText></w:r>"
          + mark("separate", "<w:vanish/>", after="<w:t>b</w:t>") + run("res") + mark("end")),
        "[hidden: b]res",
    ),
    "a link by field": (
        p(field('HYPERLINK "https://x.org/a"', run("here"))), "here <https://x.org/a>",
    ),
    "a link within the document": (p(field('HYPERLINK \\l "b"', run("here"))), "here"),
    "a ticked box": (
        p('<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox>'
          '</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>'
          '<w:r><w:fldChar w:fldCharType="end"/></w:r>' + run(" yes")),
        "☒ yes",
    ),
    "signs": (
        p('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="Symbol" w:char="F061"/>'
          '<w:sym w:font="Webdings" w:char="F045"/></w:r>'),
        "✓α[symbol: Webdings F045]",
    ),
    "a formula": (
        p("<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r>"
          "</m:den></m:f></m:oMath>"),
        "(a+b)/2",
    ),
    "a content control": (f"<w:sdt><w:sdtContent>{para('a')}</w:sdtContent></w:sdt>", "a"),
    "a control in a line": (
        p(f"<w:sdt><w:sdtPr><w:alias w:val='n'/></w:sdtPr><w:sdtContent>{run('a')}</w:sdtContent>"
          "</w:sdt>"), "a",
    ),
    "an end of a section": (
        p(run("a"), '<w:sectPr><w:type w:val="continuous"/></w:sectPr>') + para("b"),
        "a\n[section break, same page]\nb",
    ),
    "a text box that is offered twice": (
        p(run("a") + "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:anchor><a:graphic>"
          f"<a:graphicData><wps:wsp><wps:txbx><w:txbxContent>{para('in')}</w:txbxContent></wps:txbx>"
          "</wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback>"
          f"<w:pict><v:shape><v:textbox><w:txbxContent>{para('in')}</w:txbxContent></v:textbox>"
          "</v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>" + run("b")),
        "ab\n[text box: in]",
    ),
    "merged cells": (
        table(cell("a", '<w:gridSpan w:val="2"/>') + cell("b", '<w:vMerge w:val="restart"/>'),
              cell("c") + cell("d") + cell("", "<w:vMerge/>")),
        "[table 0: 2 rows, 3 columns]\n| a | b |\n| c | d |  |",
    ),
    "a table in a table": (
        table(cell("a") + f"<w:tc>{table(cell('b') + cell('c'))}<w:p/></w:tc>"),
        "[table 0: 1 rows, 2 columns]\n| a | [table: b | c] |",
    ),
    "a deleted row": (
        table(cell("a"), "<w:trPr><w:del/></w:trPr>" + cell("gone")),
        "[table 0: 1 rows, 1 columns]\n| a |",
    ),
    "a page within a cell": (
        table(f"<w:tc>{para('a') * 8}</w:tc>"),
        "[table 0: 1 rows, 1 columns]\n" + "a\n" * 8 + "[end of table 0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", SHOWN)
def test_what_stands_in_a_document_is_shown(which: str, read: Read) -> None:
    """Each thing that a document may hold is read as a person would see it, once."""
    body, text = SHOWN[which]

    assert read(body).text == text


def test_changes_hidden_text_and_comments_are_told(read: Read) -> None:
    """What the text does not show stands in the warnings, with counts."""
    changed = read(SHOWN["insertions and deletions"][0])
    hidden = read(SHOWN["hidden text"][0])
    commented = read(
        p(run("a") + '<w:r><w:commentReference w:id="7"/></w:r>'),
        comments=f'<w:comment w:id="7" w:author="Ann" w:date="2024-01-31T09:00">{para("why")}'
        f'</w:comment><w:comment w:id="8" w:author="Bob">{para("loose")}</w:comment>',
    )

    assert changed.warnings == (
        "Tracked changes: 2 insertions are read as text, 2 deletions are not shown.",
        "Paragraph 1 with its changes: a[inserted by Ann: b][deleted: cd][inserted: e]",
    )
    assert "[hidden: …]" in hidden.warnings[0]
    assert (
        commented.text == "a[comment 1]\n[comment 1] Ann, 2024-01-31: why\n[comment 2] Bob: loose"
    )
    assert "[comment 1]" in commented.warnings[0]


def test_notes_stand_below_the_section_that_cites_them(read: Read) -> None:
    """A note is read with the section that cites it, and not with the others."""
    body = heading("One") + p('<w:r><w:footnoteReference w:id="5"/></w:r>') + heading("Two")
    body += p(run("b") + '<w:r><w:endnoteReference w:id="2"/></w:r>') + para("c")
    notes = {
        "footnotes": f'<w:footnote w:type="separator" w:id="0"/><w:footnote w:id="5">{para("foot")}'
        "</w:footnote>",
        "endnotes": f'<w:endnote w:id="2">{para("end")}</w:endnote>',
    }

    assert read(body, Region(section="One"), **notes).text == "# One\n[^1]\n[^1]: foot"
    assert read(body, Region(section=1), **notes).text == "# Two\nb[^e1]\nc\n[^e1]: end"


def test_headers_and_footers_are_read_with_the_whole_and_say_where_they_stand(read: Read) -> None:
    """They belong to pages, not to sections; one that is switched off is told as such."""
    layout = (
        '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/>'
        '<w:footerReference w:type="first" r:id="rfooter1"/></w:sectPr>'
    )
    parts = {"header1": para("top"), "footer1": para("bottom")}
    whole = read(para("a") + layout, **parts)

    assert whole.text == "a\n[header: top]\n[footer, first page, not shown: bottom]"
    assert "top" not in read(para("a") + layout, Region(section=0), **parts).text


def test_hidden_text_around_the_body_is_told(read: Read) -> None:
    """Text that only a header, a note or a comment hides is labelled, too, and warned of."""
    secret = p(run("a") + run("b", "<w:vanish/>"))
    layout = '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>'
    cited = p('<w:r><w:footnoteReference w:id="5"/></w:r>')
    warning = "[hidden: …] is text that people do not see when they open the document."

    for body, shown, parts in (
        (para("x") + layout, "x\n[header: a[hidden: b]]", {"header1": secret}),
        (cited, "[^1]\n[^1]: a[hidden: b]", {
            "footnotes": f'<w:footnote w:id="5">{secret}</w:footnote>',
        }),
        (para("x"), "x\n[comment 1]: a[hidden: b]", {
            "comments": f'<w:comment w:id="5">{secret}</w:comment>',
        }),
    ):  # fmt: skip
        found = read(body, **parts)

        assert found.text == shown
        assert warning in found.warnings
    long = read(para("x" * 20_000) + layout, header1=secret)
    assert long.chunk_info is not None
    assert warning not in long.warnings
    last = long.chunk_info.total_chunks - 1
    assert warning in read(para("x" * 20_000) + layout, Region(chunk=last), header1=secret).warnings


def test_tables_and_pictures_are_told_beside_the_text(read: Read) -> None:
    """A section's objects are its own: rows by column, sizes in inches, the same each time."""
    picture = (
        '<w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="457200"/>'
        '<wp:docPr id="1" name="Picture 1" descr="A cat"/><a:graphic><a:graphicData><pic:pic>'
        '<pic:blipFill><a:blip r:embed="rcat"/></pic:blipFill></pic:pic></a:graphicData>'
        "</a:graphic></wp:inline></w:drawing></w:r>"
    )
    merged = table(cell("a", '<w:gridSpan w:val="2"/>') + cell("b"), cell("c") + cell("d") * 2)
    body = heading("One") + table(cell("x")) + heading("Two") + p(picture) + merged + para("end")
    found = read(body, Region(section="two"), **{"cat.png": "bytes"})

    assert found == read(body, Region(section="Two"), **{"cat.png": "bytes"})
    assert "[image: A cat]" in found.text
    assert found.objects is not None
    assert found.objects["images"] == (
        {
            "name": "Picture 1", "index": 0, "alt_text": "A cat", "file": "cat.png", "width": 1.0,
            "height": 0.5, "section_index": 1,
        },
    )  # fmt: skip
    (told,) = found.objects["tables"]
    assert told["index"] == 1
    assert told["rows"] == [["a", "", "b"], ["c", "d", "d"]]


def test_sections_are_found_by_heading_or_index(read: Read) -> None:
    """Blanks and case do not count where no heading is exactly so; what is unclear is refused."""
    body = heading("2024") + para("a") + heading("Sales  Plan") + para("b") + heading("Same")
    body += para("c") + heading("Same", 2) + para("d")

    assert "a" in read(body, Region(section="2024")).text
    assert "b" in read(body, Region(section="sales plan")).text
    assert "b" in read(body, Region(section="1")).text
    assert "d" in read(body, Region(section=3)).text
    assert "section 3 is read on" in read(body, Region(section=2)).warnings[0]
    for wrong, words in (
        (Region(section="Same"), "2, 3"),
        (Region(section="Sales Plam"), "Sales"),
        (Region(section=4), "it has 4"),
        (Region(section=0, chunk=1), "no chunk 1"),
        (Region(pages="1"), "not by pages"),
    ):
        with pytest.raises(ValidationFailed, match=words):
            read(body, wrong)


def test_chunks_hold_what_the_section_holds(read: Read) -> None:
    """Chunks end where paragraphs do; together they are the section, and a long one is divided."""
    body = heading("Long") + "".join(para(f"{n} " + "word " * 150) for n in range(60))
    body += para("x" * 20_000) + table(*(cell(f"row {n} " + "cell " * 30) for n in range(90)))
    first = read(body, Region(section=0))
    assert first.chunk_info is not None
    assert first.chunk_info.has_more
    chunks = [read(body, Region(section=0, chunk=n)) for n in range(first.chunk_info.total_chunks)]
    parts = [read(body, Region(chunk=n)) for n in range(first.chunk_info.total_chunks)]

    text = "\n".join(chunk.text for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) <= 8_000
    assert first.text == chunks[0].text
    assert text == "\n".join(part.text for part in parts)
    assert [f"{n} word" in text for n in range(60)] == [True] * 60
    assert [f"row {n} cell" in text for n in range(90)] == [True] * 90
    assert text.count("x") == 20_000
    assert chunks[-1].chunk_info is not None
    assert chunks[-1].chunk_info.range.endswith("part 4")


def test_what_is_kept_is_what_is_read_anew(tmp_path: Path) -> None:
    """A shelf changes nothing but the time; one that is damaged is not believed."""
    path = made(tmp_path / "a.docx", heading("One") + table(cell("a")) + para("b"))
    source, shelved = Source(path, "a.docx"), Source(path, "a.docx", tmp_path / "shelf")
    plain = FORMAT.objects(source, Region()), FORMAT.map(source)

    for _ in range(2):
        assert (FORMAT.objects(shelved, Region()), FORMAT.map(shelved)) == plain
    (kept,) = (tmp_path / "shelf").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1] + b"\0")
    assert FORMAT.objects(shelved, Region()) == plain[0]


def test_formulas_are_read_in_one_line() -> None:
    """Roots, sums, scripts and brackets stand in a line that says what belongs together."""
    text = (
        f'<m:oMath xmlns:m="{M[1:-1]}"><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r>'
        "<m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:rad><m:deg/>"
        "<m:e><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
        "</m:sSup></m:e></m:rad></m:e></m:nary></m:oMath>"
    )

    assert linear_format(xml_root(text.encode(), "a")) == "∑_(i=1)^n √(x^2)"


def test_limits_are_read_on_their_side() -> None:
    """What stands below a term is a subscript, what stands above it a superscript."""
    parts = "<m:e><m:r><m:t>x</m:t></m:r></m:e><m:lim><m:r><m:t>a+b</m:t></m:r></m:lim>"
    inside = f"<m:limLow>{parts}</m:limLow><m:limUpp>{parts}</m:limUpp>"
    text = f'<m:oMath xmlns:m="{M[1:-1]}">{inside}</m:oMath>'

    assert linear_format(xml_root(text.encode(), "a")) == "x_(a+b)x^(a+b)"
