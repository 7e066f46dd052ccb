"""What differs between two versions of a document: each edit is told once, by the place it has."""

import datetime as dt
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Inches, Pt, RGBColor
from lxml import etree

from compared_documents import SAID, compared, contract, insert_row, move, picture
from kbd.formats import Change, Place
from kbd_docx import DocxFormat
from made_documents import edit, made, para

FORMAT = DocxFormat()
TRACKED = '<w:ins {ns} w:id="8" w:author="Ann"><w:r><w:t>{text}</w:t></w:r></w:ins>'


def changes(folder: Path, change: Callable[[Document], Any]) -> tuple[Change, ...]:
    """Return what a change of the contract makes differ."""
    before, after = folder / "before.docx", folder / "after.docx"
    contract(before)
    document = docx.Document(str(before))
    change(document)
    document.save(str(after))
    return compared(before, after).changes


def only(found: tuple[Change, ...]) -> Change:
    """Return the only change."""
    assert len(found) == 1, found
    return found[0]


def shaded(element: str) -> etree._Element:
    """Return an element of a document from its XML."""
    return parse_xml(element.replace("/>", f" {nsdecls('w')}/>", 1))


def test_equal_contents_differ_in_nothing(tmp_path: Path) -> None:
    """However the package is zipped, and whatever order attributes have."""
    before, after = tmp_path / "before.docx", tmp_path / "after.docx"
    contract(before)
    with zipfile.ZipFile(before) as old, zipfile.ZipFile(after, "w", zipfile.ZIP_STORED) as new:
        for name in reversed(old.namelist()):
            data = old.read(name)
            if name.endswith("document.xml"):
                data = data.replace(b"<w:p>", b'<w:p w:rsidR="00AB12CD"><w:proofErr/>')
                data = data.replace(b"<w:r>", b'<w:r w:rsidRPr="00AB12CD">', 3)
            new.writestr(name, data)

    assert (compared(before, after).total, compared(before, after).changes) == (0, ())


def test_a_transposed_amount_in_a_table_is_one_change(tmp_path: Path) -> None:
    """It names table, row and column as `set_table_cells` counts them, and the words."""

    def transpose(document: Document) -> None:
        document.tables[0].cell(0, 0).paragraphs[0].runs[0].text = "314.60"

    found = only(changes(tmp_path, transpose))

    assert (
        found.what, found.kind, found.before, found.after,
    ) == ("cell", "changed", "341.60", "314.60")  # fmt: skip
    assert found.place == Place(
        "Pricing, table 1, row 1, column 1", section=0, table=0, row=0, column=0
    )
    assert found.words == (("removed", "341.60"), ("added", "314.60"))


def test_a_changed_paragraph_is_one_change_with_its_words(tmp_path: Path) -> None:
    """Its number is that of the operations, from 0 in the place and from 1 in the title."""
    contract(tmp_path / "before.docx")
    edit(
        tmp_path / "before.docx", {"op": "replace_text", "search": "item 14", "replace": "item 41"}
    )
    found = only(compared(tmp_path / "before.docx", tmp_path / "out.docx").changes)

    assert found.place == Place("Pricing, paragraph 4", section=0, paragraph=3)
    assert found.what == "paragraph"
    assert found.words == (
        ("equal", f"Paragraph number 2 {SAID} "), ("removed", "14"), ("added", "41"),
        ("equal", "."),
    )  # fmt: skip


def test_formatting_is_told_apart_from_text(tmp_path: Path) -> None:
    """By name, before and after, with what the style says where the text says nothing."""

    def look(document: Document) -> None:
        run = document.paragraphs[2].runs[0]
        run.font.size, run.italic, run.font.color.rgb = Pt(14), True, RGBColor(255, 0, 0)

    found = only(changes(tmp_path, look))

    assert (found.what, found.place.paragraph) == ("format", 2)
    assert found.before == found.after == f"Paragraph number 1 {SAID} 7."
    assert found.details == {
        "color": (None, "#FF0000"), "italic": (False, True), "size": (11.0, 14.0),
    }  # fmt: skip


def test_formatting_names_the_text_concerned(tmp_path: Path) -> None:
    """Of a paragraph of which one word looks otherwise, that word."""

    def look(document: Document) -> None:
        document.paragraphs[-2].runs[1].bold = False

    found = only(changes(tmp_path, look))

    assert (found.after, dict(found.details)) == ("within ", {"bold": (True, False)})


def test_text_and_formatting_of_a_paragraph_are_one_change(tmp_path: Path) -> None:
    """The details of a changed text are those of the words that stayed."""

    def both(document: Document) -> None:
        document.paragraphs[-2].runs[1].bold = False
        document.paragraphs[-2].runs[2].text = "60 days."

    found = only(changes(tmp_path, both))

    assert (found.what, dict(found.details)) == ("paragraph", {"bold": (True, False)})


@pytest.mark.parametrize(
    ("change", "details"),
    [
        (lambda d: setattr(d.paragraphs[3], "alignment", 1), {"alignment": (None, "center")}),
        (lambda d: setattr(d.paragraphs[3], "style", "Heading 2"),
         {"style": ("Normal", "heading 2")}),
        (lambda d: setattr(d.paragraphs[3].paragraph_format, "space_after", Pt(3)),
         {"space_after": (10.0, 3.0)}),
        (lambda d: setattr(d.paragraphs[3].paragraph_format, "left_indent", Inches(1)),
         {"indent_left": (None, 1.0)}),
        (lambda d: d.tables[0].cell(1, 1)._tc.get_or_add_tcPr().append(
            shaded('<w:shd w:val="clear" w:fill="FF0000"/>')),
         {"shading": (None, "fill FF0000, val clear")}),
        (lambda d: setattr(d.tables[0].rows[0], "height", Pt(40)), {"height": (None, "800")}),
        (lambda d: setattr(d.tables[0], "style", "Light Grid"),
         {"style": ("Table Grid", "Light Grid")}),
    ],
)  # fmt: skip
def test_each_formatting_has_a_name(
    tmp_path: Path, change: Callable[[Document], Any], details: dict[str, Any]
) -> None:
    """Of paragraphs, cells, rows and tables."""
    found = only(changes(tmp_path, change))

    assert ("format", details) == (found.what, dict(found.details))


def test_paragraphs_that_moved_together_are_one_move(tmp_path: Path) -> None:
    """It tells where they stood, and nothing was removed or added."""
    found = only(changes(tmp_path, move))

    assert (found.kind, found.place.paragraph) == ("moved", 7)
    assert found.moved_from == Place("Pricing, paragraph 3", section=0, paragraph=2)
    assert found.after == f"Paragraph number 1 {SAID} 7.\nParagraph number 2 {SAID} 14."


def delete_row(document: Document) -> None:
    """Take a row out of the table."""
    document.tables[0]._tbl.remove(document.tables[0].rows[1]._tr)


def move_row(document: Document) -> None:
    """Put a row at the end of the table."""
    document.tables[0].rows[3]._tr.addnext(document.tables[0].rows[0]._tr)


@pytest.mark.parametrize(
    ("change", "kind", "row", "texts"),
    [
        (insert_row, "added", 2, ["new"] * 3),
        (delete_row, "removed", 1, ["351.60", "352.60", "353.60"]),
        (move_row, "moved", 3, ["341.60", "342.60", "343.60"]),
    ],
)
def test_a_row_is_one_change(
    tmp_path: Path,
    change: Callable[[Document], Any],
    kind: str,
    row: int,
    texts: list[str],
) -> None:
    """Whether it came, went or moved, with the texts of its cells."""
    found = only(changes(tmp_path, change))

    assert (kind, "row", row) == (found.kind, found.what, found.place.row)
    assert texts == (found.before if kind == "removed" else found.after)


def test_a_column_is_one_change(tmp_path: Path) -> None:
    """The rows, all of which have one cell more, are none."""

    def widen(document: Document) -> None:
        for cell in document.tables[0].add_column(Inches(1)).cells:
            cell.text = "7"

    found = only(changes(tmp_path, widen))

    assert (
        found.kind, found.what, found.place.column, found.after,
    ) == ("added", "column", 3, ["7"] * 4)  # fmt: skip


def replace_picture(document: Document) -> None:
    """Have the same place show another picture."""
    part = next(each.target_part for each in document.part.rels.values() if "image" in each.reltype)
    part._blob = picture("blue").getvalue()


def track(document: Document) -> None:
    """Insert a word as a tracked change."""
    document.paragraphs[4]._p.append(parse_xml(TRACKED.format(ns=nsdecls("w"), text=" Really.")))


@pytest.mark.parametrize(
    ("change", "kind", "what", "title"),
    [
        (lambda d: setattr(d.sections[0].header.paragraphs[0], "text", "Acme Public"),
         "changed", "header", "header 1"),
        (lambda d: setattr(d.sections[0].footer.paragraphs[0], "text", "page"),
         "added", "footer", "footer 1"),
        (lambda d: setattr(d.sections[0], "left_margin", Inches(0.5)),
         "changed", "section", "page section 1"),
        (lambda d: setattr(d.styles["Normal"].font, "size", Pt(13)),
         "changed", "style", "style Normal"),
        (lambda d: setattr(d.core_properties, "title", "Offer"), "added", "property", "properties"),
        (replace_picture, "changed", "picture", "Terms, paragraph 12"),
        (lambda d: d.paragraphs[4].add_run().add_picture(picture("blue")),
         "added", "picture", "Pricing, paragraph 5"),
        (lambda d: d.add_comment(d.paragraphs[3].runs, text="Check", author="Ann"),
         "added", "comment", "comment 1"),
        (track, "changed", "paragraph", "Pricing, paragraph 5"),
    ],
)  # fmt: skip
def test_what_is_no_text_of_the_body_is_told_where_it_is(
    tmp_path: Path, change: Callable[[Document], Any], kind: str, what: str, title: str
) -> None:
    """Each as one change, with a noun and a place of its own."""
    found = only(changes(tmp_path, change))

    assert (kind, what, title) == (found.kind, found.what, found.place.title)


def test_times_of_saving_are_one_property(tmp_path: Path) -> None:
    """However many of them a save writes anew."""

    def stamp(document: Document) -> None:
        document.core_properties.modified = dt.datetime(2030, 1, 1)  # noqa: DTZ001 - its kind
        document.core_properties.revision = 9

    found = only(changes(tmp_path, stamp))

    assert ({"modified", "revision"}, "property") == (set(found.details), found.what)


def paragraph_changes(folder: Path, before: str, after: str, **parts: str) -> tuple[Change, ...]:
    """Return what differs between two bodies; a part's name may end in _before or _after."""
    paths = []
    for side, body in (("before", before), ("after", after)):
        own = {name.removesuffix(f"_{side}"): inside for name, inside in parts.items()
               if not name.endswith(("_before", "_after")) or name.endswith(side)}  # fmt: skip
        paths.append(made(folder / f"{side}.docx", body, own))
    return compared(*paths).changes


RUN = "<w:r><w:t>{}</w:t></w:r>"
FIELD = (
    "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>{}</w:instrText></w:r>"
    "<w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>7</w:t></w:r>"
    "<w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>"
)
INSERTED = "<w:p><w:ins w:author='Ann'><w:r><w:t>one</w:t></w:r></w:ins></w:p>"
DELETED = "<w:p>{}<w:del w:author='Ann'><w:r><w:delText>two</w:delText></w:r></w:del></w:p>"
CONTROL = (
    "<w:p><w:sdt><w:sdtPr><w:tag w:val='{}'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    "</w:p>"
)
LINK = "<w:p><w:hyperlink w:anchor='{}'><w:r><w:t>see</w:t></w:r></w:hyperlink></w:p>"
MARKED = "<w:p><w:bookmarkStart w:id='1' w:name='{}'/><w:r><w:t>x</w:t></w:r></w:p>"
FORMULA = "<w:p><m:oMath><m:r><m:t>{}</m:t></m:r></m:oMath></w:p>"
CITED = "<w:p><w:r><w:t>x</w:t><w:footnoteReference w:id='{}'/></w:r></w:p>"
NOTE = "<w:footnote w:id='{}'><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:footnote>"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (FIELD.format("PAGE"), FIELD.format("NUMPAGES"), ("changed", "field", "PAGE", "NUMPAGES")),
        (INSERTED, f"<w:p>{RUN.format('one')}</w:p>",
         ("removed", "tracked change", 'inserted "one" by Ann', None)),
        (f"<w:p>{RUN.format('one')}</w:p>", DELETED.format(RUN.format("one")),
         ("added", "tracked change", None, 'deleted "two" by Ann')),
        (LINK.format("a"), LINK.format("b"), ("changed", "link", "#a", "#b")),
        (MARKED.format("a"), MARKED.format("_GoBack"), ("removed", "bookmark", "a", None)),
        (FORMULA.format("a+b"), FORMULA.format("a-b"), ("changed", "formula", "a+b", "a-b")),
        (CONTROL.format("a", RUN.format("x")), f"<w:p>{RUN.format('x')}</w:p>",
         ("removed", "content control", "a", None)),
        ((f"<w:sdt><w:sdtPr><w:tag w:val='t'/></w:sdtPr><w:sdtContent>{para('x')}</w:sdtContent>"
         "</w:sdt>"), para("x"), ("removed", "content control", "t", None)),
        (para("x"), "<w:p><w:r><w:t>x</w:t><w:br w:type='page'/></w:r></w:p>",
         ("added", "page break", None, "[page break]")),
        (para("x"), "<w:p><w:r><w:t>x</w:t><w:unknown w:val='1'/></w:r></w:p>",
         ("changed", "format", "x", "x")),
    ],
)  # fmt: skip
def test_what_is_in_a_paragraph_beside_text(
    tmp_path: Path, before: str, after: str, expected: tuple[str, str, Any, Any]
) -> None:
    """Fields, links, tracked changes, marks, even what is not known: each is one change."""
    found = only(paragraph_changes(tmp_path, before, after))

    assert expected == (found.kind, found.what, found.before, found.after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (para("one two"), f"<w:p>{RUN.format('one ')}{RUN.format('two')}</w:p>"),
        (para("one"), "<w:p><w:r><w:lastRenderedPageBreak/><w:t>one</w:t></w:r></w:p>"),
        (MARKED.format("_GoBack"), f"<w:p>{RUN.format('x')}</w:p>"),
        (f"<w:p>{RUN.format('x')}</w:p>",
         "<w:p><w:r><w:rPr><w:noProof/></w:rPr><w:t>x</w:t></w:r></w:p>"),
    ],
)  # fmt: skip
def test_how_a_paragraph_is_written_does_not_count(tmp_path: Path, before: str, after: str) -> None:
    """Where runs end, where pages broke when it was saved, where the cursor was."""
    assert paragraph_changes(tmp_path, before, after) == ()


def test_notes_are_told_by_their_numbers_whatever_their_ids(tmp_path: Path) -> None:
    """A footnote put before another one is one change, though both have other ids now."""
    found = only(
        paragraph_changes(
            tmp_path,
            para("a") + CITED.format(1),
            "<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id='1'/></w:r></w:p>" + CITED.format(2),
            footnotes_before=NOTE.format(1, "See the annex."),
            footnotes_after=NOTE.format(1, "New.") + NOTE.format(2, "See the annex."),
        )
    )

    assert (
        found.kind, found.what, found.place.title, found.after,
    ) == ("added", "note", "footnote 1", "New.")  # fmt: skip


def test_a_note_that_is_cited_elsewhere_is_told(tmp_path: Path) -> None:
    """Its text is the same; the place that cites it is not."""
    found = paragraph_changes(
        tmp_path,
        CITED.format(1) + para("other"),
        para("x") + "<w:p><w:r><w:t>other</w:t><w:footnoteReference w:id='1'/></w:r></w:p>",
        footnotes=NOTE.format(1, "See the annex."),
    )

    assert [(each.what.replace("footnote", "note"), each.place.paragraph) for each in found] == [
        ("note", 0),
        ("note", 1),
    ]


def test_a_relation_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    """The same paragraph links elsewhere if its relation does, and not if only its id differs."""
    paths = []
    for name, key, target in (
        ("a", "rId1", "http://one"), ("b", "rId9", "http://one"), ("c", "rId1", "http://two"),
    ):  # fmt: skip
        body = f"<w:p><w:hyperlink r:id='{key}'><w:r><w:t>see</w:t></w:r></w:hyperlink></w:p>"
        path = made(tmp_path / f"{name}.docx", body)
        with zipfile.ZipFile(path) as archive:
            parts = {each: archive.read(each) for each in archive.namelist()}
        relation = (
            f'<Relationship Id="{key}" Type="http://schemas.openxmlformats.org/officeDocument/2006'
            f'/relationships/hyperlink" Target="{target}" TargetMode="External"/></Relationships>'
        )
        parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
            b"</Relationships>", relation.encode()
        )
        with zipfile.ZipFile(path, "w") as archive:
            for each, data in parts.items():
                archive.writestr(each, data)
        paths.append(path)
    found = only(compared(paths[0], paths[2]).changes)

    assert compared(paths[0], paths[1]).total == 0
    assert (found.what, found.before, found.after) == ("link", "http://one", "http://two")


def test_prefixes_that_mean_something_else_make_other_contents(tmp_path: Path) -> None:
    """Equal bytes of a paragraph are not equal where a prefix has another namespace."""
    before, after = tmp_path / "before.docx", tmp_path / "after.docx"
    made(before, "<w:p><w:r><v:x/><m:x/></w:r></w:p>")
    with zipfile.ZipFile(before) as old, zipfile.ZipFile(after, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("document.xml"):
                data = data.replace(b'xmlns:v="urn:', b'xmlns:v="urn:other:')
            new.writestr(name, data)

    assert only(compared(before, after).changes).what == "format"


def test_parts_that_nothing_reads_are_told_by_size_and_digest(tmp_path: Path) -> None:
    """So nothing changes unseen; a part that only has another name has not changed."""
    paths = []
    for name, part, data in (
        ("a", "customXml/item1.xml", "<a x='1'/>"), ("b", "customXml/item1.xml", "<a x='2'/>"),
        ("c", "customXml/item7.xml", "<a  x = '1'></a>"),
    ):  # fmt: skip
        path = made(tmp_path / f"{name}.docx", para("x"))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(part, data)
        paths.append(path)
    found = only(compared(paths[0], paths[1]).changes)

    assert (found.what, found.place.part) == ("part", "customXml/item1.xml")
    assert found.before["size_bytes"] == found.after["size_bytes"] == len("<a x='1'/>")
    assert found.before["sha256"] != found.after["sha256"]
    assert compared(paths[0], paths[2]).total == 0
