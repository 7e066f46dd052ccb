"""replace_text: it finds text as people see it, replaces each hit once, and keeps how it looks."""

import random
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_cases import entries
from kbd.errors import ValidationFailed
from kbd.formats import Applied
from made_documents import W, at, body_of, edit, made, para, part_of, shown


def replace(path: Path, search: str, new: str, **more: Any) -> Applied:
    return edit(path, {"op": "replace_text", "search": search, "replace": new, **more})


def out(path: Path) -> Path:
    return path.with_name("out.docx")


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def field(instruction: str, result: str) -> str:
    signs = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    return (
        f"{signs.format('begin')}<w:r><w:instrText>{instruction}</w:instrText></w:r>"
        f"{signs.format('separate')}{result}{signs.format('end')}"
    )


def test_placeholders_inside_cells_are_replaced(tmp_path: Path) -> None:
    """Also where Word has cut them into runs, and in tables within cells."""
    document = docx.Document()
    table = document.add_table(1, 2)
    first = table.cell(0, 0).paragraphs[0]
    for text in ("Dear {{", "na", "me}}, welcome"):
        first.add_run(text)
    table.cell(0, 1).add_table(1, 1).cell(0, 0).text = "{{name}} again"
    document.save(str(tmp_path / "in.docx"))
    applied = replace(tmp_path / "in.docx", "{{name}}", "Ada")

    assert applied.changed == ("2 replacements",)
    assert applied.warnings == ()
    found = docx.Document(str(tmp_path / "out.docx")).tables[0]
    assert found.cell(0, 0).text == "Dear Ada, welcome"
    assert found.cell(0, 1).tables[0].cell(0, 0).text == "Ada again"


def test_runs_keep_their_look(tmp_path: Path) -> None:
    """The new text looks as the hit began; runs behind keep theirs, with what is left of them."""
    styled = run("bold te", "<w:b/>") + run("xt it", "<w:i/>")
    path = made(tmp_path / "a.docx", f"<w:p>{run('plain ')}{styled}{run('alic')}</w:p>")
    replace(path, "text it", "T")

    runs = body_of(out(path)).findall(f"{W}p/{W}r")
    assert ["".join(map(str, each.itertext())) for each in runs] == ["plain ", "bold T", "", "alic"]
    assert [at(each, "rPr")[0].tag[len(W) :] for each in runs[1:3]] == ["b", "i"]


def test_a_replacement_is_not_searched_again(tmp_path: Path) -> None:
    """What it holds of the search stays: each hit is replaced once, in merged cells, too."""
    merged = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
    cells = f"<w:tc>{merged}{para('A')}</w:tc>"
    path = made(tmp_path / "a.docx", f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>{para('BAAB')}")

    assert replace(path, "A", "AA").changed == ("3 replacements",)
    assert shown(body_of(out(path))) == ["AA", "BAAAAB"]


def test_all_places_are_reached(tmp_path: Path) -> None:
    """Headers, footers, notes, controls, links and inserted text; not deleted text or comments."""
    path = made(
        tmp_path / "a.docx",
        f"<w:p><w:hyperlink>{run('old')}</w:hyperlink><w:ins>{run('old')}</w:ins>"
        f"<w:sdt><w:sdtPr/><w:sdtContent>{run('old')}</w:sdtContent></w:sdt>"
        f"<w:smartTag>{run('old')}</w:smartTag>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
        f"<w:sdt><w:sdtContent>{para('old')}</w:sdtContent></w:sdt>",
        {
            "header1": para("old"),
            "footer1": para("old"),
            "footnotes": f'<w:footnote w:id="2">{para("old")}</w:footnote>',
            "endnotes": f'<w:endnote w:id="2">{para("old")}</w:endnote>',
            "comments": f'<w:comment w:id="0" w:author="A">{para("old")}</w:comment>',
        },
    )
    applied = replace(path, "OLD", "new")

    assert applied.changed == ("9 replacements",)
    for name in ("header1", "footer1", "footnotes", "endnotes"):
        assert shown(part_of(out(path), f"word/{name}.xml")) == ["new"]
    assert shown(part_of(out(path), "word/comments.xml")) == ["old"]
    assert shown(body_of(out(path))) == ["newnewnewnew", "new"]
    assert [each.text for each in body_of(out(path)).iter(f"{W}delText")] == ["old"]


def test_both_alternates_of_a_text_box_are_kept_in_step(tmp_path: Path) -> None:
    """A box stands in a file twice, for old programs, too; it is counted once, as it is seen."""
    box = f"<w:txbxContent>{para('Hello box')}</w:txbxContent>"
    new = (
        "<w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx>"
        f"{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
    )
    old = f"<w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict>"
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{run('Hel')}<w:r><mc:AlternateContent><mc:Choice Requires='wps'>{new}</mc:Choice>"
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r>{run('lo')}</w:p>",
    )

    # What floats does not part the text of the line that it is anchored in.
    assert replace(path, "hello", "Bye").changed == ("2 replacements",)
    assert shown(body_of(out(path)))[1:] == ["Bye box", "Bye box"]
    assert shown(body_of(out(path)))[0].startswith("Bye")


def test_a_field_keeps_its_instruction(tmp_path: Path) -> None:
    """Its result is text; its instruction is not, nor what is shown while it has none."""
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{field('HYPERLINK &quot;http://old.example&quot;', run('old link'))}</w:p>"
        f"<w:p>{field('TOC old', run('old entry'))}</w:p>"
        f'<w:p><w:fldSimple w:instr="DOCPROPERTY old">{run("old value")}</w:fldSimple></w:p>'
        "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>IF old</w:instrText>"
        f"</w:r>{run('old')}</w:p><w:p>{run('old')}<w:r><w:fldChar w:fldCharType='separate'/></w:r>"
        f"{run('old')}<w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>",
    )
    applied = replace(path, "old", "new")

    assert applied.changed == ("4 replacements",)
    assert [w for w in applied.warnings if "DOCPROPERTY, IF, TOC" in w]
    assert len(applied.warnings) == 1
    body = body_of(out(path))
    assert [each.text for each in body.iter(f"{W}instrText")] == [
        'HYPERLINK "http://old.example"', "TOC old", "IF old",
    ]  # fmt: skip
    assert shown(body) == ["new link", "new entry", "new value", "old", "oldnew"]


def test_breaks_and_tabs(tmp_path: Path) -> None:
    """They are found as line ends and tabs, go with a hit, and come with a replacement."""
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{run('one')}<w:r><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r></w:p>"
        f"<w:p>{run('one')}<w:r><w:br w:type='page'/></w:r>{run('two')}</w:p>",
    )
    applied = edit(
        path,
        {"op": "replace_text", "search": "one\ntwo\t", "replace": "1\t2\n"},
        {"op": "replace_text", "search": "three", "replace": " 3 "},
        {"op": "replace_text", "search": "one\ntwo", "replace": "no"},
    )

    assert applied.changed == ("1 replacement", "1 replacement", "0 replacements")
    assert shown(body_of(out(path)))[0] == "1\t2\n 3 "
    assert "end of a paragraph" in applied.warnings[0]


def test_marks_and_pictures_in_a_hit(tmp_path: Path) -> None:
    """Notes' marks and bookmarks stay; a picture in the line, or an equation, parts it."""
    inline = "<w:r><w:drawing><wp:inline/></w:drawing></w:r>"
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{run('foo')}<w:r><w:footnoteReference w:id='2'/></w:r><w:bookmarkStart w:id='1' "
        f"w:name='b'/>{run('bar')}<w:bookmarkEnd w:id='1'/></w:p>"
        f"<w:p>{run('foo')}{inline}{run('bar')}</w:p><w:p>{run('foo')}<m:oMath/>{run('bar')}</w:p>"
        f"<w:p><w:r><w:t>fo</w:t><w:softHyphen/><w:t>ob</w:t><w:softHyphen/></w:r>{run('ar')}</w:p>",
    )

    assert replace(path, "foobar", "x").changed == ("2 replacements",)
    body = body_of(out(path))
    assert shown(body) == ["x", "foobar", "foobar", "x"]
    for mark in ("footnoteReference", "bookmarkStart", "bookmarkEnd", "drawing"):
        assert len(list(body.iter(f"{W}{mark}"))) == 1
    assert len(list(body.iter(f"{W}softHyphen"))) == 0


def test_case(tmp_path: Path) -> None:
    """It is minded only if asked for; letters that change their number with it stay in place."""
    path = made(tmp_path / "a.docx", para("İstanbul Straße TEA tea Ωmega ÉTÉ"))

    for search, more, count in (
        ("tea", {}, 2), ("tea", {"match_case": True}, 1), ("Tea", {"match_case": True}, 0),
        ("été", {}, 1), ("ωMEGA", {}, 1), ("STRASSE", {}, 0), ("straße t", {}, 1),
    ):  # fmt: skip
        assert replace(path, search, "x", **more).changed[0].startswith(f"{count} ")
    replace(path, "straße", "Str.")
    assert shown(body_of(out(path))) == ["İstanbul Str. TEA tea Ωmega ÉTÉ"]


def test_a_text_that_is_not_there_is_told(tmp_path: Path) -> None:
    """The count is 0, there is a warning, and the file is what it was, byte for byte."""
    path = made(tmp_path / "a.docx", para("something"), {"header1": para("else")})
    applied = replace(path, "nothing", "x")

    assert applied.changed == ("0 replacements",)
    assert applied.warnings == ("'nothing' was not found; nothing was replaced.",)
    assert entries(path) == entries(out(path))


def test_a_placeholder_becomes_content(tmp_path: Path) -> None:
    """A control that showed a prompt shows text now; one bound to other data is told of."""
    control = (
        "<w:sdt><w:sdtPr><w:showingPlcHdr/>{}</w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    )
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{control.format('', run('[Name]'))}"
        f"{control.format('<w:dataBinding/>', run('[Company]'))}</w:p>",
    )
    told = replace(path, "[Name]", "Ada\nL.")

    assert told.warnings == ()
    assert len(list(body_of(out(path)).iter(f"{W}showingPlcHdr"))) == 1
    assert "data kept elsewhere" in replace(path, "[company]", "X").warnings[0]


def test_nothing_cannot_be_searched_for(tmp_path: Path) -> None:
    """A text of characters that no document holds is none; a result without end is refused."""
    path = made(tmp_path / "a.docx", para("a" * 300))
    with pytest.raises(ValidationFailed, match="text to search for"):
        replace(path, "\0\1", "x")
    with pytest.raises(ValidationFailed, match="characters longer"):
        replace(path, "a", "b" * 100_000)


def test_what_xml_cannot_hold_is_left_out(tmp_path: Path) -> None:
    """Control characters are dropped with a warning; what XML must escape is text."""
    path = made(tmp_path / "a.docx", para("here"))
    applied = replace(path, "here", "a\0b\x1b<&>\r\n😀")

    assert shown(body_of(out(path))) == ["ab<&>\n😀"]
    assert applied.warnings == (
        "2 control character(s) that a document cannot hold were left out.",
    )


ALPHABET = "abAB \t\n"


@settings(max_examples=40)
@given(
    texts=st.lists(st.text(ALPHABET, max_size=12), min_size=1, max_size=4),
    search=st.text(ALPHABET, min_size=1, max_size=3),
    new=st.text(ALPHABET, max_size=4),
    match_case=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_it_does_what_replacing_in_plain_text_does(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    search: str,
    new: str,
    match_case: bool,
    seed: int,
) -> None:
    """However a text is cut into runs, links and controls: the same text, the same count."""
    path = tmp_path_factory.mktemp("model") / "a.docx"
    chance = random.Random(seed)
    made(path, "".join(f"<w:p>{cut(text, chance)}</w:p>" for text in texts))
    applied = replace(path, search, new, match_case=match_case)

    pattern = re.compile(re.escape(search), 0 if match_case else re.IGNORECASE)
    wanted = [pattern.subn(lambda _: new, text) for text in texts]
    assert shown(body_of(out(path))) == [text for text, _ in wanted]
    assert int(applied.changed[0].split()[0]) == sum(count for _, count in wanted)


def cut(text: str, chance: random.Random) -> str:
    """Return a text cut into pieces at random, each a run, some of them wrapped."""
    signs = {"\t": "<w:tab/>", "\n": "<w:br/>"}
    made = []
    while text:
        size = chance.randint(1, len(text))
        piece, text = text[:size], text[size:]
        inside = "".join(
            signs.get(part, f'<w:t xml:space="preserve">{part}</w:t>')
            for part in re.split(r"([\t\n])", piece) if part
        )  # fmt: skip
        wrapped = chance.choice(("{}", "{}", "<w:hyperlink>{}</w:hyperlink>", "<w:ins>{}</w:ins>",
                                 "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"))  # fmt: skip
        made.append(wrapped.format(f"<w:r><w:rPr><w:b/></w:rPr>{inside}</w:r>"))
    return "<w:proofErr w:type='spellStart'/>".join(made)
