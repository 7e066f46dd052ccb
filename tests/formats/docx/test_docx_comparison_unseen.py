"""What a document holds beside its texts, and that a comparison must not pass over."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from compared_documents import compared
from kbd.formats import Change

_SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def write(path: Path, body: str, link: str = "http://a.example", **parts: str) -> Path:
    """Write a document: its body, where its link leads, other parts by their kind."""
    own = {name: text for name, text in parts.items() if name != "custom"}
    with zipfile.ZipFile(path, "w") as file:
        types = "".join(
            f'<Override PartName="/word/{name}.xml" ContentType="{_TYPES}.{name}+xml"/>'
            for name in own
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_TYPES}.document.main+xml"/>'
            f"{types}</Types>",
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="a" Type="{_KINDS}/officeDocument" Target="word/document.xml"/>'
            f'<Relationship Id="b" Type="{_KINDS}/custom-properties" Target="custom.xml"/>'
            f'<Relationship Id="c" Type="{_CORE}" Target="core.xml"/></Relationships>',
        )
        rels = "".join(
            f'<Relationship Id="{name}" Type="{_KINDS}/{name}" Target="{name}.xml"/>'
            for name in own
        )
        file.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{rels}<Relationship Id="link"'
            f' Type="{_KINDS}/hyperlink" Target="{link}" TargetMode="External"/></Relationships>',
        )
        file.writestr(
            "word/document.xml", f"<w:document {_SPACES}><w:body>{body}</w:body></w:document>"
        )
        for name, text in own.items():
            file.writestr(f"word/{name}.xml", f"<w:{name} {_SPACES}>{text}</w:{name}>")
        file.writestr(
            "custom.xml",
            '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
            'custom-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/'
            f'docPropsVTypes">{parts.get("custom", "")}</Properties>',
        )
        file.writestr(
            "core.xml",
            f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>'
            "</cp:coreProperties>",
        )
    return path


def changes(
    folder: Path, before: str, after: str, shared: dict[str, str] | None = None,
    old: dict[str, str] | None = None, new: dict[str, str] | None = None,
) -> tuple[Change, ...]:  # fmt: skip
    """Return what differs between two bodies, with parts of both and of each."""
    both = shared or {}
    return compared(
        write(folder / "before.docx", before, **(both | (old or {}))),
        write(folder / "after.docx", after, **(both | (new or {}))),
    ).changes


def run(text: str, look: str = "") -> str:
    """Return a run."""
    return f"<w:r><w:rPr>{look}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def para(inner: str, settings: str = "") -> str:
    """Return a paragraph."""
    return f"<w:p><w:pPr>{settings}</w:pPr>{inner}</w:p>"


def item(text: str, number: int) -> str:
    """Return an item of a list."""
    return para(run(text), f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>')


ONE, TWO, THREE = (para(run(f"{text} paragraph of all here")) for text in ("First", "Next", "Last"))
WIDE = '<w:sectPr><w:pgSz w:w="16838" w:h="11906" w:orient="landscape"/></w:sectPr>'
TALL = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
LISTS = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2">'
    '<w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>'
    "</w:lvlOverride></w:num>"
)


def test_pages_that_begin_elsewhere_are_told(tmp_path: Path) -> None:
    """A break between sections that stands behind another paragraph turns other pages."""
    first = para(run("First paragraph of all here"), WIDE)
    second = para(run("Next paragraph of all here"), WIDE)

    (found,) = changes(tmp_path, first + TWO + THREE + TALL, ONE + second + THREE + TALL)

    assert (found.kind, found.what, found.place.title) == ("changed", "section", "page section 1")
    assert found.details == {"last_paragraph": (1, 2)}


def test_a_paragraph_before_a_break_moves_no_section(tmp_path: Path) -> None:
    """What is new is told alone, though all that follows has other numbers."""
    first = para(run("First paragraph of all here"), WIDE)

    (found,) = changes(tmp_path, first + TWO + TALL, THREE + first + TWO + TALL)

    assert (found.kind, found.what) == ("added", "paragraph")


def test_a_list_that_begins_anew_is_told(tmp_path: Path) -> None:
    """Though its paragraphs differ in the number of their list alone."""
    before = item("alpha", 1) + item("beta", 1) + item("gamma", 1)
    after = item("alpha", 1) + item("beta", 1) + item("gamma", 2)

    (found,) = changes(tmp_path, before, after, {"numbering": LISTS})

    assert (found.what, found.place.paragraph) == ("format", 2)
    assert found.details == {"list": ("list 1", "list 2")}


def test_two_lists_that_became_one_are_told(tmp_path: Path) -> None:
    """The paragraphs that go on with another list are."""
    before = item("alpha", 1) + item("beta", 1) + item("gamma", 2)
    after = item("alpha", 1) + item("beta", 1) + item("gamma", 1)

    (found,) = changes(tmp_path, before, after, {"numbering": LISTS})

    assert (found.place.paragraph, found.details) == (2, {"list": ("list 2", "list 1")})


def test_lists_that_are_counted_anew_are_the_same(tmp_path: Path) -> None:
    """Where nothing else about them differs."""
    alike = LISTS.replace('<w:startOverride w:val="1"/>', "")
    alike = alike.replace('<w:lvlOverride w:ilvl="0"></w:lvlOverride>', "")
    before, after = item("alpha", 1) + item("beta", 1), item("alpha", 2) + item("beta", 2)

    assert changes(tmp_path, before, after, {"numbering": alike}) == ()


DRAWN = (
    '<w:drawing><wp:inline><wp:extent cx="9" cy="9"/><wp:docPr id="1" name="x"/><a:graphic/>'
    "</wp:inline></w:drawing>"
)
LINKED = f'<w:hyperlink r:id="link"><w:r>{DRAWN}</w:r></w:hyperlink>'


def test_where_a_picture_leads_is_told(tmp_path: Path) -> None:
    """A link need not have a text."""
    (found,) = changes(tmp_path, para(LINKED), para(LINKED), old={"link": "http://b.example"})

    assert found.details == {"link": ("http://b.example", "http://a.example")}


def control(value: str, text: str) -> str:
    """Return a paragraph with a content control that offers a value."""
    return para(
        '<w:sdt><w:sdtPr><w:alias w:val="pick"/><w:dropDownList><w:listItem'
        f' w:value="{value}"/></w:dropDownList></w:sdtPr><w:sdtContent>{run(text)}</w:sdtContent>'
        "</w:sdt>"
    )


def test_a_changed_text_hides_no_settings_of_its_control(tmp_path: Path) -> None:
    """Each is told: what it says, and what it offers."""
    found = changes(tmp_path, control("a", "some words here"), control("b", "some words there"))

    assert [(each.what, each.note) for each in found] == [
        ("paragraph", ""), ("content control", "its settings differ"),
    ]  # fmt: skip


def field(*kinds: str) -> str:
    """Return a field with its marks."""
    marks = "".join(f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in kinds)
    return para(f"{marks}<w:r><w:instrText>PAGE</w:instrText></w:r>{run('1')}")


def bookmark(inner: str, outer: str) -> str:
    """Return a paragraph of which a part has a bookmark."""
    return para(
        f'<w:bookmarkStart w:id="1" w:name="b"/>{run(inner)}<w:bookmarkEnd w:id="1"/>{run(outer)}'
    )


def deleted(look: str, before: str, after: str) -> str:
    """Return a paragraph with a tracked deletion."""
    return para(
        f'{run(before)}<w:del w:author="A" w:id="1"><w:r><w:rPr>{look}</w:rPr><w:delText>gone'
        f"</w:delText></w:r></w:del>{run(after)}"
    )


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (field("begin", "separate"), field("begin"), "format"),
        (bookmark("ab", "cd"), bookmark("abc", "d"), "format"),
        (para('<w:r><w:ptab w:alignment="right"/></w:r>'),
         para('<w:r><w:ptab w:alignment="center"/></w:r>'), "format"),
        (para('<w:r><w:br w:clear="all"/></w:r>'), para("<w:r><w:br/></w:r>"), "format"),
        (para('<w:hyperlink r:id="link" w:tooltip="a"><w:r><w:t>x</w:t></w:r></w:hyperlink>'),
         para('<w:hyperlink r:id="link" w:tooltip="b"><w:r><w:t>x</w:t></w:r></w:hyperlink>'),
         "link"),
        (para(f'<w:hyperlink r:id="link">{run("one")}</w:hyperlink>{run(" two")}'),
         para(f'{run("one ")}<w:hyperlink r:id="link">{run("two")}</w:hyperlink>'), "link"),
        (para(f"<w:r>{DRAWN}</w:r>"), para(f"<w:r><w:rPr><w:vanish/></w:rPr>{DRAWN}</w:r>"),
         "shape"),
        (deleted("", "ab", "cd"), deleted("<w:b/>", "ab", "cd"), "tracked change"),
        (deleted("", "ab", "cd"), deleted("", "abc", "d"), "tracked change"),
        (para(f'<w:ins w:author="A" w:date="2024-01-01T00:00:00Z">{run("x")}</w:ins>'),
         para(f'<w:ins w:author="A" w:date="2023-01-01T00:00:00Z">{run("x")}</w:ins>'),
         "tracked change"),
        (para(run("x", '<w:rPrChange w:author="A"><w:rPr><w:b/></w:rPr></w:rPrChange>')),
         para(run("x", '<w:rPrChange w:author="A"><w:rPr><w:i/></w:rPr></w:rPrChange>')),
         "tracked change"),
    ],
)  # fmt: skip
def test_each_is_one_change(tmp_path: Path, before: str, after: str, what: str) -> None:
    """What stands in a paragraph beside its words is told, be it ever so small."""
    (found,) = changes(tmp_path, before, after)

    assert (found.kind, found.what) == ("changed", what)


def box(inner: str) -> str:
    """Return a paragraph with a text box."""
    return para(
        f'<w:r><w:pict><v:shape id="s"><v:textbox><w:txbxContent>{para(inner)}</w:txbxContent>'
        "</v:textbox></v:shape></w:pict></w:r>"
    )


def marked(number: int) -> str:
    """Return a bookmark and an editable range around paragraphs, by their number in the file."""
    return (
        f'<w:bookmarkStart w:id="{number}" w:name="b"/>{ONE}<w:bookmarkEnd w:id="{number}"/>'
        + para(f'<w:permStart w:id="{number}" w:edGrp="all"/>x<w:permEnd w:id="{number}"/>')
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [(box(run("one two")), box(run("one ") + run("two"))), (marked(1), marked(7))],
)
def test_the_same_in_other_bytes_is_no_change(tmp_path: Path, before: str, after: str) -> None:
    """Runs may be divided anywhere, and what begins and ends is counted anew by each save."""
    assert changes(tmp_path, before, after) == ()


def prop(name: str, value: str) -> str:
    """Return a property that people named."""
    return f'<property name="{name}"><vt:lpwstr>{value}</vt:lpwstr></property>'


@pytest.mark.parametrize("name", ["Words", "title", "version"])
def test_a_property_may_be_named_as_those_of_programs(tmp_path: Path, name: str) -> None:
    """It is neither counted by a program nor one of theirs."""
    custom: list[dict[str, Any]] = [{"custom": prop(name, value)} for value in ("a", "b")]

    (found,) = changes(tmp_path, ONE, ONE, old=custom[0], new=custom[1])

    assert (found.what, found.before, found.after) == ("property", "a", "b")


def test_styles_of_one_name_are_all_compared(tmp_path: Path) -> None:
    """Paragraphs name them by their ids."""
    styles = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="N"/>{}</w:style>'
    old, new = (styles.format("A", "") + styles.format("B", f"<w:rPr><w:{look}/></w:rPr>")
                for look in ("b", "i"))  # fmt: skip

    (found,) = changes(tmp_path, ONE, ONE, old={"styles": old}, new={"styles": new})

    assert (found.what, found.place.title) == ("style", "style N (B)")
