"""Style sheets of every form: strict, with holes, full, real ones; looks of another workbook."""

import zipfile
from pathlib import Path

import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.formatting import shows_date
from kbd_xlsx.parts.stylesheet import MAX_CELL_FORMATS, XlsxStyleSheet
from style_sheets import HEADING, MAIN, RICH, STRICT, find, sheet_of, shown


@pytest.mark.parametrize(
    ("number", "code", "is_date"),
    [
        (0, None, False),
        (14, None, True),
        (22, None, True),
        (30, None, True),
        (46, None, True),
        (49, None, False),
        (164, "yyyy-mm-dd", True),
        (164, "[h]:mm", True),
        (164, "[$-409]d. mmmm;@", True),
        (164, '0.00 "days"', False),
        (164, "[Red]0.00;[Blue]-0.00", False),
        (164, '_-* #,##0.00 "DM"_-', False),
        (164, "0.00E+00", False),
        (164, r"0\d", False),
        (164, "GENERAL", False),
        (14, "0.00", False),
    ],
)
def test_formats_that_show_dates(number: int, code: str | None, *, is_date: bool) -> None:
    """Letters of dates count, quoted, escaped and bracketed ones do not."""
    assert is_date is shows_date(number, code)


def test_the_strict_variant() -> None:
    """A strict style sheet stays strict, and its border has start and end."""
    styles = XlsxStyleSheet(None, strict=True)
    styles.styled(0, {"border_left": "thin", "font_bold": True})

    root = etree.fromstring(styles.xml())
    assert {etree.QName(element).namespace for element in root.iter()} == {STRICT}
    assert find(styles, "//p:border[2]/p:start/@style") == ["thin"]
    assert find(styles, "//p:border/p:left") == []


def test_missing_sections_are_made_in_their_places() -> None:
    """A style sheet with next to nothing becomes one that others can read."""
    styles = sheet_of(f'<styleSheet xmlns="{MAIN}"><dxfs/><colors/></styleSheet>')
    index = styles.styled(0, HEADING)

    assert index == 1
    names = [etree.QName(each).localname for each in find(styles, "/p:styleSheet/*")]
    assert names == ["fonts", "fills", "cellXfs", "dxfs", "colors"]
    assert find(styles, "//p:cellXfs/p:xf[1]/@fontId") == ["0"]


def test_forms_that_cannot_be_changed_are_refused() -> None:
    """A draft of the format, and entries whose positions are open, are refused by name."""
    with pytest.raises(ValidationFailed, match="unknown form"):
        sheet_of('<styleSheet xmlns="http://schemas.microsoft.com/office/excel/2005/8/styles"/>')
    styles = sheet_of(
        f'<styleSheet xmlns="{MAIN}"><fonts><mc:AlternateContent xmlns:mc="urn:mc"/></fonts>'
        '<cellXfs count="1"><xf/></cellXfs></styleSheet>'
    )
    with pytest.raises(ValidationFailed, match="fonts has alternative contents"):
        styles.styled(0, {"font_bold": True})


def test_numbers_past_all_sense_count_as_none() -> None:
    """Ids of thousands of digits, or of none, are read as 0 and cost nothing."""
    for text in ("9" * 5_000, "²", "-1", ""):
        styles = sheet_of(
            f'<styleSheet xmlns="{MAIN}"><cellXfs count="1"><xf numFmtId="{text}" fontId="{text}"/>'
            "</cellXfs></styleSheet>"
        )

        assert styles.is_date(0) is False
        assert styles.styled(0, {"font_bold": True}) == 1


def test_too_many_formats_are_refused() -> None:
    """Past 64,000 cell formats a new one is refused; those that are there still serve."""
    entries = "".join(f'<xf numFmtId="{number}"/>' for number in range(MAX_CELL_FORMATS))
    styles = sheet_of(f'<styleSheet xmlns="{MAIN}"><cellXfs>{entries}</cellXfs></styleSheet>')

    with pytest.raises(ValidationFailed, match="64,000"):
        styles.styled(0, {"font_bold": True})
    assert styles.styled(7, {}) == 7


def test_a_look_of_another_workbook() -> None:
    """A format is adopted with font, fill, border, number format and protection, and only once."""
    styles, other = XlsxStyleSheet(None), sheet_of(RICH)
    source = other.styled(1, {"fill_color": "AABBCC"})
    index = styles.adopt(other, source)

    assert index == styles.adopt(other, source)
    cell = shown(styles, index)
    assert (cell.font.strike, cell.number_format) == (True, "0.000")
    assert cell.fill.fgColor.rgb == "FFAABBCC"
    assert cell.protection.locked is False
    assert cell.border.diagonal is not None
    assert cell.border.diagonal.style == "thin"
    assert find(styles, "//p:numFmt/@numFmtId") == ["164"]


def test_a_named_style_comes_along() -> None:
    """The named style of an adopted cell is made; one of its name that differs is kept and told."""
    named = '<x:cellStyles count="2"><x:cellStyle name="Mine" xfId="1"/>'
    text = RICH.replace('<x:cellStyles count="1">', named)
    text = text.replace("<x:xf/>", '<x:xf/><x:xf fontId="1"/>')
    other = sheet_of(text.replace('borderId="0" xfId="0" applyP', 'borderId="0" xfId="1" applyP'))
    styles = XlsxStyleSheet(None)
    index = styles.adopt(other, 1)

    assert find(styles, "//p:cellStyle/@name") == ["Normal", "Mine"]
    assert shown(styles, index).style == "Mine"
    assert not styles.warnings
    assert index == styles.adopt(other, 1)
    changed = sheet_of(text.replace('<x:xf fontId="1"/>', '<x:xf fontId="0"/>'))
    assert changed.adopt(other, 1)
    assert list(changed.warnings) == [
        "named style Mine looks different in this workbook and was kept so"
    ]


@pytest.mark.corpora
def test_real_files_keep_their_styles(corpora: Path) -> None:
    """Every style sheet of a sample takes a look and keeps all that it had."""
    checked = 0
    for path in sorted((corpora / "xlsx").iterdir())[::6]:
        try:
            with zipfile.ZipFile(path) as package:
                data = package.read("xl/styles.xml")
        except (zipfile.BadZipFile, KeyError, NotImplementedError):
            continue
        old, root = etree.fromstring(data), etree.fromstring(data)
        try:
            styles = XlsxStyleSheet(root)
        except ValidationFailed:
            continue
        formats = len(old.findall("{*}cellXfs/{*}xf"))
        assert styles.styled(formats - 1, HEADING) in (formats, formats - 1), path.name
        for section in old:
            new = root.find(str(section.tag))
            assert new is not None
            if isinstance(section.tag, str) and not str(section.tag).endswith("numFmts"):
                kept = [etree.tostring(entry, method="c14n") for entry in new]
                was = [etree.tostring(entry, method="c14n") for entry in section]
                assert was == kept[: len(was)], path.name
        checked += 1

    assert checked > 40
