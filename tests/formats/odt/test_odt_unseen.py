"""Text of OpenDocument texts that people do not see for its look is labeled, and no other."""

from pathlib import Path

import pytest

from kbd.formats import Reading, Region, Source
from kbd_odt import OdtFormat
from odt_texts import styles, text_file

_SPACES = (
    ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
    ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
)
CLEAR = 'fo:background-color="transparent"'
WHITE, BLACK, DARK = 'fo:color="#FFFFFF"', 'fo:color="#000000"', 'fo:background-color="#203040"'


def style(name: str, texts: str, family: str = "text", more: str = "", parent: str = "") -> str:
    """A style of a family, with what it says of texts and beside that."""
    return (
        f'<style:style{_SPACES} style:name="{name}" style:family="{family}" '
        f'style:parent-style-name="{parent}"><style:text-properties {texts}/>{more}</style:style>'
    )


def block(kind: str, attributes: str) -> str:
    """Properties of a paragraph, a cell, a row, a table or a section."""
    return f"<style:{kind}-properties {attributes}/>"


def read(path: Path, body: str, automatic: str, common: str = "", masters: str = "") -> Reading:
    """A reading of a text."""
    parts = styles(common, masters)
    text_file(path / "a.odt", body, automatic=automatic, styles=parts)
    return OdtFormat().read(Source(path / "a.odt", "a.odt"), Region())


def shown(path: Path, body: str, automatic: str, common: str = "", masters: str = "") -> str:
    """What is read of a text."""
    return read(path, body, automatic, common, masters).text.rstrip()


SPAN = (
    '<text:p text:style-name="P">seen <text:span text:style-name="T">text</text:span> on</text:p>'
)
HIDES = {
    "white": style("T", WHITE),
    "nearly white": style("T", 'fo:color="#f8fafb"'),
    "of a parent": style("B", WHITE) + style("T", "", parent="B"),
    "tiny": style("T", 'fo:font-size="2pt"'),
    "tiny in centimeters": style("T", 'fo:font-size="0.05cm"'),
    "transparent": style("T", f'{BLACK} loext:opacity="0%"'),
    "on its own color": style("T", 'fo:color="#203040" ' + DARK),
    "on a dark paragraph": style("T", 'fo:color="#203040"')
    + style("P", WHITE, "paragraph", block("paragraph", DARK)),
}


@pytest.mark.parametrize("which", HIDES)
def test_what_is_not_seen_for_its_look_is_labeled(which: str, tmp_path: Path) -> None:
    """In the color of what is behind it, transparent, or too small; the rest is as it was."""
    assert shown(tmp_path, SPAN, HIDES[which]) == "seen [hidden: text] on"


PICTURE = block("paragraph", "").replace(
    "/>", '><style:background-image xlink:href="a.png"/></style:paragraph-properties>'
)
BEHIND = style("G", "", "graphic", block("graphic", 'style:run-through="background"'))


def painted(fill: str) -> str:
    """What LibreOffice writes beside the background of paragraphs."""
    return f"<loext:graphic-properties {fill}/>"


HIDES["on its own white, which no drawing lies before"] = (
    style("T", f'{WHITE} fo:background-color="#FFFFFF"') + BEHIND
)
SHOWS = {
    "black": style("T", BLACK),
    "small": style("T", 'fo:font-size="4pt"'),
    "white on its own dark": style("T", f"{WHITE} {DARK}"),
    "white in a dark paragraph": style("T", WHITE)
    + style("P", BLACK, "paragraph", block("paragraph", DARK)),
    "a color that the program chooses": style(
        "T", f'{WHITE} style:use-window-font-color="true" loext:opacity="0%"'
    ),
    "black before a drawing": style("T", BLACK) + BEHIND,
    "dark on a picture": style("T", 'fo:color="#203040"') + style("P", "", "paragraph", PICTURE),
}


@pytest.mark.parametrize("which", SHOWS)
def test_what_may_be_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """White on something dark, or on what nobody knows, and what is only small."""
    assert shown(tmp_path, SPAN, SHOWS[which]) == "seen text on"


def test_a_whole_paragraph_and_the_default_count(tmp_path: Path) -> None:
    """What a span in it makes visible again stays; a default color counts for all."""
    body = (
        '<text:p text:style-name="P">gone <text:span text:style-name="B">back</text:span></text:p>'
    )
    both = style("P", WHITE, "paragraph") + style("B", BLACK)
    assert shown(tmp_path, body, both) == "[hidden: gone ]back"
    default = (
        f'<style:default-style{_SPACES} style:family="paragraph"><style:text-properties {WHITE}/>'
        "</style:default-style>"
    )
    assert shown(tmp_path, "<text:p>gone</text:p>", "", default) == "[hidden: gone]"


def test_what_is_behind_a_cell_counts(tmp_path: Path) -> None:
    """A dark cell, row, table or section shows white letters, and hides dark ones."""
    looks = style("P", WHITE, "paragraph") + style("D", 'fo:color="#203040"', "paragraph")
    looks += style("C", "", "table-cell", block("table-cell", DARK))
    looks += style("S", "", "section", block("section", DARK))
    text = '<text:p text:style-name="P">a</text:p><text:p text:style-name="D">b</text:p>'
    table = (
        f'<table:table><table:table-row><table:table-cell table:style-name="C">{text}'
        f"</table:table-cell><table:table-cell>{text}</table:table-cell></table:table-row>"
        "</table:table>"
    )
    assert "| a / [hidden: b] | [hidden: a] / b |" in shown(tmp_path, table, looks)
    section = f'<text:section text:style-name="S">{text}</text:section>'
    assert shown(tmp_path, section, looks) == "a\n[hidden: b]"


MAYBE = {
    "before a drawing": BEHIND,
    "on a picture": style("P", "", "paragraph", PICTURE),
    "on a color that is clear": style(
        "P", "", "paragraph",
        block("paragraph", DARK)
        + painted('draw:fill="solid" draw:fill-color="#203040" draw:opacity="0%"'),
    ),
    "on a gradient of opacity": style(
        "P", "", "paragraph",
        block("paragraph", DARK)
        + painted('draw:fill="solid" draw:fill-color="#203040" draw:opacity-name="O"'),
    ),
    "on two colors": style(
        "P", "", "paragraph",
        block("paragraph", DARK) + painted('draw:fill="solid" draw:fill-color="#FFFFFF"'),
    ),
    "on a color and none": style(
        "P", "", "paragraph", block("paragraph", DARK) + painted('draw:fill="none"')
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", MAYBE)
def test_what_would_be_hidden_but_for_the_unknown_is_labeled_so(which: str, tmp_path: Path) -> None:
    """White text on white where something may lie between; the warning says what that means."""
    reading = read(tmp_path, SPAN, style("T", WHITE) + MAYBE[which])
    assert reading.text.rstrip() == "seen [maybe hidden: text] on"
    (warning,) = reading.warnings
    assert warning.startswith("1 text is shown as [maybe hidden: …]: people may not see")


@pytest.mark.parametrize(
    "cleared",
    [
        style("T", WHITE) + style("P", "", "paragraph", block("paragraph", CLEAR), "Dark"),
        style("T", f"{WHITE} {CLEAR}") + style("P", DARK, "paragraph"),
        style("T", WHITE, more=block("paragraph", DARK)),
    ],
)
def test_a_background_that_is_taken_off_hides_again(cleared: str, tmp_path: Path) -> None:
    """None instead of the inherited one, and one of a family that cannot have it."""
    common = style("Dark", "", "paragraph", block("paragraph", DARK))
    assert shown(tmp_path, SPAN, cleared, common) == "seen [hidden: text] on"


def layout(name: str, attributes: str, more: str = "") -> str:
    """A layout of pages."""
    return (
        f'<style:page-layout{_SPACES} style:name="{name}">{block("page-layout", attributes)}{more}'
        "</style:page-layout>"
    )


def master(name: str, of: str, more: str = "") -> str:
    """A style of pages."""
    return (
        f'<style:master-page style:name="{name}" style:page-layout-name="{of}">{more}'
        "</style:master-page>"
    )


IMAGE = block("page-layout", "").replace(
    "/>", '><style:background-image xlink:href="a.png"/></style:page-layout-properties>'
)
DARK_PAGES, STANDARD = layout("D", DARK), master("Standard", "D")
PAGES = {
    "dark": (DARK_PAGES, STANDARD, "text"),
    "white": (layout("D", ""), STANDARD, "[hidden: text]"),
    "of a layout that is not there": ("", STANDARD, "[hidden: text]"),
    "dark for none": (DARK_PAGES, master("Standard", ""), "[hidden: text]"),
    "some dark": (DARK_PAGES, STANDARD + master("B", ""), "[maybe hidden: text]"),
    "dark, but not the usual": (DARK_PAGES, master("B", "D"), "[maybe hidden: text]"),
    "dark twice": (DARK_PAGES + layout("D", ""), STANDARD, "[maybe hidden: text]"),
    "a picture": (
        f'<style:page-layout{_SPACES} style:name="D">{IMAGE}</style:page-layout>',
        STANDARD,
        "[maybe hidden: text]",
    ),
    "clear": (
        layout("D", DARK + ' draw:fill="solid" draw:fill-color="#203040" draw:opacity="0%"'),
        STANDARD,
        "[maybe hidden: text]",
    ),
}


@pytest.mark.parametrize("which", PAGES)
def test_what_pages_are_painted_with_counts(which: str, tmp_path: Path) -> None:
    """Of the pages that may be meant: all dark, all white, or not known."""
    common, masters, wanted = PAGES[which]
    assert shown(tmp_path, SPAN, style("T", WHITE), common, masters) == f"seen {wanted} on"


def test_text_in_the_color_of_dark_pages_is_hidden(tmp_path: Path) -> None:
    """Which was taken for seen, since the page was not white."""
    looks = style("T", 'fo:color="#203040"')
    assert shown(tmp_path, SPAN, looks, DARK_PAGES, STANDARD) == "seen [hidden: text] on"


def test_headers_are_on_their_own_fill_or_the_page(tmp_path: Path) -> None:
    """A dark header shows white letters; on a white page it is not known what lies between."""
    text = '<text:p text:style-name="P">a</text:p>'
    fill = f"<style:header-style><style:header-footer-properties {DARK}/></style:header-style>"
    margins = f"<style:header>{text}</style:header><style:footer>{text}</style:footer>"
    for which, header, footer in (
        (layout("L", "", fill), "a", "[maybe hidden: a]"),
        (layout("L", DARK), "a", "a"),
        (layout("L", ""), "[maybe hidden: a]", "[maybe hidden: a]"),
        (layout("L", "", fill) + layout("L", ""), *["[maybe hidden: a]"] * 2),
    ):
        common = style("P", WHITE, "paragraph") + which
        read(tmp_path, "<text:p>b</text:p>", "", common, master("Standard", "L", margins))
        passages = OdtFormat().passages(Source(tmp_path / "a.odt", "a.odt"))
        assert [each.text for each in passages][1:] == [header, footer]


def gradient(first: str, last: str, more: str = "") -> str:
    """A gradient with the name R."""
    return (
        f'<draw:gradient{_SPACES} draw:name="R" draw:start-color="{first}" '
        f'draw:end-color="{last}" {more}/>'
    )


RED, SOLID = 'draw:fill="gradient" draw:fill-gradient-name="R"', 'draw:fill="solid" '
BOXES = {
    "without a fill": ('draw:fill="none"', "", "[maybe hidden: a]"),
    "dark": (SOLID + 'draw:fill-color="#203040"', "", "a"),
    "dark by a background": (DARK, "", "a"),
    "white": (SOLID + 'draw:fill-color="#FFFFFF"', "", "[hidden: a]"),
    "nearly clear": (
        SOLID + 'draw:fill-color="#203040" draw:opacity="5%"', "", "[maybe hidden: a]",
    ),
    "half clear": (SOLID + 'draw:fill-color="#203040" draw:opacity="50%"', "", "a"),
    "a picture": ('draw:fill="bitmap"', "", "[maybe hidden: a]"),
    "a dark gradient": (RED, gradient("#ff0000", "#800000"), "a"),
    "a gradient to white": (RED, gradient("#ff0000", "#ffffff"), "[maybe hidden: a]"),
    "a gradient with white in it": (
        RED,
        gradient("#ff0000", "#800000").replace(
            "/>", '><loext:gradient-stop loext:color-value="#ffffff"/></draw:gradient>'
        ),
        "[maybe hidden: a]",
    ),
    "a white gradient": (RED, gradient("#ffffff", "#fefefe"), "[hidden: a]"),
    "a bright gradient": (
        RED, gradient("#ff0000", "#800000", 'draw:start-intensity="0%"'), "[maybe hidden: a]",
    ),
    "two gradients of a name": (RED, gradient("#ff0000", "#800000") * 2, "[maybe hidden: a]"),
    "no gradient of the name": (RED, "", "[maybe hidden: a]"),
}  # fmt: skip


@pytest.mark.parametrize("which", BOXES)
def test_what_a_box_is_painted_with_counts(which: str, tmp_path: Path) -> None:
    """Where that is sure; else it is not known what lies between it and the page."""
    fill, common, wanted = BOXES[which]
    looks = style("P", WHITE, "paragraph") + style("G", "", "graphic", block("graphic", fill))
    text = '<text:p text:style-name="P">a</text:p>'
    body = (
        f'<text:p><draw:frame draw:style-name="G"><draw:text-box>{text}</draw:text-box>'
        "</draw:frame></text:p>"
    )
    assert shown(tmp_path, body, looks, common) == f"[text box: {wanted}]"


_EQUATIONS = (
    '<draw:equation draw:name="f2" draw:formula="logheight"/>'
    '<draw:equation draw:name="f3" draw:formula="logwidth"/>'
)
SHAPES = {
    "a rectangle": ("M 0 0 L 21600 0 21600 21600 0 21600 0 0 Z N", "", "a"),
    "a rectangle of other programs": ("M 0 0 L ?f3 0 ?f3 ?f2 0 ?f2 Z N", _EQUATIONS, "a"),
    "a line": (
        "M 0 0 L ?f3 0 ?f3 ?f2 0 ?f2 Z N",
        _EQUATIONS.replace("logwidth", "0"),
        "[maybe hidden: a]",
    ),
    "a smaller rectangle": (
        "M 0 0 L 21600 0 21600 21600 0 21600 0 0 Z N", "0 0 99999 99999",
        "[maybe hidden: a]",
    ),
    "a hollow form with the right measures": (
        "M 0 0 L 9 0 9 9 Z M 1 1 L 8 1 8 8 Z N", _EQUATIONS, "[maybe hidden: a]",
    ),
    "a hollow form": ("M 0 0 L 9 0 9 9 Z M 1 1 L 8 1 8 8 Z N", "", "[maybe hidden: a]"),
}  # fmt: skip


@pytest.mark.parametrize("which", SHAPES)
def test_only_a_shape_that_fills_its_box_is_behind_all_of_its_text(
    which: str, tmp_path: Path
) -> None:
    """A shape of another form may leave its text on the page."""
    path, more, wanted = SHAPES[which]
    seen = "0 0 99999 99999" if more.startswith("0 0") else "0 0 21600 21600"
    more = more.removeprefix(seen)
    fill = block("graphic", f'{SOLID} draw:fill-color="#203040"')
    looks = style("P", WHITE, "paragraph") + style("G", "", "graphic", fill)
    body = (
        '<draw:custom-shape draw:style-name="G"><text:p text:style-name="P">a</text:p>'
        f'<draw:enhanced-geometry svg:viewBox="{seen}" draw:enhanced-path="{path}">{more}'
        "</draw:enhanced-geometry></draw:custom-shape>"
    )
    assert shown(tmp_path, body, looks) == f"[text box: {wanted}]"


def test_a_shape_gives_a_color_to_its_letters(tmp_path: Path) -> None:
    """By its own style or by the one that it names for texts; a frame gives none."""
    fill = block("graphic", SOLID + 'draw:fill-color="#FFFFFF"')
    looks = style("G", WHITE, "graphic", fill) + style("H", "", "graphic", fill)
    looks += style("P", WHITE, "paragraph")
    a = "<text:p>a</text:p>"
    for box, wanted in (
        (f'<draw:rect draw:style-name="G">{a}</draw:rect>', "[hidden: a]"),
        (
            f'<draw:rect draw:style-name="H" draw:text-style-name="P">{a}</draw:rect>',
            "[hidden: a]",
        ),
        (
            f'<draw:frame draw:style-name="G"><draw:text-box>{a}</draw:text-box></draw:frame>',
            "a",
        ),
    ):
        assert shown(tmp_path, box, looks) == f"[text box: {wanted}]"


def test_a_table_in_a_look_of_the_program_alone_is_not_known(tmp_path: Path) -> None:
    """What such a table is painted with stands nowhere in the file."""
    table = (
        '<table:table table:template-name="X"><table:table-row><table:table-cell>'
        '<text:p text:style-name="P">a</text:p></table:table-cell></table:table-row></table:table>'
    )
    text = shown(tmp_path, table, style("P", WHITE, "paragraph"))
    assert "| [maybe hidden: a] |" in text


def test_letters_in_the_color_of_a_gradient_are_hidden(tmp_path: Path) -> None:
    """Also where no other color of the text is like theirs."""
    looks = style("P", 'fo:color="#ff0000"', "paragraph")
    looks += style("G", "", "graphic", block("graphic", RED))
    body = '<draw:rect draw:style-name="G"><text:p text:style-name="P">a</text:p></draw:rect>'
    common = gradient("#ff0000", "#fe0000")
    assert shown(tmp_path, body, looks, common) == "[text box: [hidden: a]]"


def test_comments_are_taken_for_seen(tmp_path: Path) -> None:
    """Nobody knows what programs put behind them, and they have their label."""
    body = (
        '<text:p>b<office:annotation><text:p text:style-name="P">a</text:p></office:annotation>'
        "</text:p>"
    )
    assert shown(tmp_path, body, style("P", WHITE, "paragraph")) == "b[comment: a]"


def test_hidden_text_is_counted_and_labeled_once(tmp_path: Path) -> None:
    """White text in a hidden span, and a section that a condition hides."""
    body = (
        f'{SPAN}<text:section text:display="condition" text:is-hidden="true"><text:p>b</text:p>'
        '</text:section><text:section text:display="condition"><text:p>c</text:p></text:section>'
    )
    path = text_file(tmp_path / "a.odt", body, automatic=style("T", f'{WHITE} text:display="none"'))
    reading = OdtFormat().read(Source(path, "a.odt"), Region())
    assert reading.text == "seen [hidden: text] on\n[hidden: b]\nc"
    assert reading.warnings == ("2 hidden texts are shown as [hidden: …].",)
