"""Formulas as they are typed, and as files that programs open without a repair spell them."""

from pathlib import Path

import openpyxl
import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.parts.app_properties import rename_parts
from kbd_xlsx.stored_formulas import shown, spelled
from kbd_xlsx.values import checked_formula
from range_edits import edit

SPELLED = {
    "=XLOOKUP(1,A:A,B:B)": "_xlfn.XLOOKUP(1,A:A,B:B)",
    '=ENCODEURL("a")&FLOOR.PRECISE(1)': '_xlfn.ENCODEURL("a")&_xlfn.FLOOR.PRECISE(1)',
    "=LET(x,C2,x+1)": "_xlfn.LET(_xlpm.x,C2,_xlpm.x+1)",
    "=LET(a,B1,b,A*2,SUM(a,b,xa,'a'!b1))":
        "_xlfn.LET(_xlpm.a,B1,_xlpm.b,_xlpm.A*2,SUM(_xlpm.a,_xlpm.b,xa,'a'!b1))",
    '=MAP(A1:A2,LAMBDA(v,v&"v"))&v':
        '_xlfn.MAP(A1:A2,_xlfn.LAMBDA(_xlpm.v,_xlpm.v&"v"))&v',
    "=LET(f,LAMBDA(x,x+1),f(2))":
        "_xlfn.LET(_xlpm.f,_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1),_xlpm.f(2))",
    "=LET(sum,2,SUM(A1:A5,sum))": "_xlfn.LET(_xlpm.sum,2,SUM(A1:A5,_xlpm.sum))",
    "=SUM(A1#,'My data'!$B$2#)":
        "SUM(_xlfn.ANCHORARRAY(A1),_xlfn.ANCHORARRAY('My data'!$B$2))",
    '=IFERROR(#REF!,"A1#")': 'IFERROR(#REF!,"A1#")',
    "=T[@Price]*T[@[Net sum]]": "T[[#This Row],[Price]]*T[[#This Row],[Net sum]]",
    "=SUM(T[@[a]:[b]])&T[@]": "SUM(T[[#This Row],[a]:[b]])&T[#This Row]",
    "=SUM(T[[#This Row],[Price]],T[a'@b])": "SUM(T[[#This Row],[Price]],T[a'@b])",
}  # fmt: skip


@pytest.mark.parametrize("typed", SPELLED)
def test_a_formula_is_stored_as_files_spell_it(typed: str) -> None:
    """And what is spelled so already stays."""
    stored = checked_formula(typed, "A1")
    assert stored == SPELLED[typed]
    assert checked_formula(stored, "A1") == stored


@pytest.mark.parametrize("typed", SPELLED)
def test_a_formula_is_shown_as_it_is_typed(typed: str) -> None:
    """People and models see no prefix of the file's; what they read can be written again."""
    stored = SPELLED[typed]
    assert "_xl" not in shown(stored)
    assert spelled(shown(stored)) == stored


def test_a_text_with_a_prefix_stays_in_what_is_shown() -> None:
    """Only code has prefixes."""
    stored = '_xlfn.CONCAT("_xlfn.A",\'_xlfn.B\'!A1,"ANCHORARRAY(A1)")'
    assert shown(stored) == stored.removeprefix("_xlfn.")


def test_reading_and_review_show_formulas_as_programs_do(tmp_path: Path) -> None:
    """The file's spelling is not for people."""
    book = openpyxl.Workbook()
    book.save(tmp_path / "a.xlsx")
    formula = "=LET(x,2,XLOOKUP(x,B1:B2,A1:A2))"
    cells = [{"cell": "C1", "value": formula}]
    edit(tmp_path / "a.xlsx", {"op": "set_cells", "sheet": "Sheet", "cells": cells})
    handler, after = XlsxFormat(), Source(tmp_path / "out.xlsx", "out.xlsx")

    read = handler.read(after, Region(sheet="Sheet", range="C1"))
    changes = handler.compare(Source(tmp_path / "a.xlsx", "a.xlsx"), after, CompareOptions())

    assert formula in read.text
    assert [each.after["formula"] for each in changes.changes if each.what == "cell"] == [formula]


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("=" + "ABS(" * 65 + "1" + ")" * 65, "64 functions"),
        ("=SUM(" + ",".join(["1"] * 256) + ")", "255 arguments"),
        ('="' + "x" * 256 + '"', "255 characters"),
        ("=@A1:A5", "no @"),
        ("=SUM(@A1:A5)", "no @"),
        ("=[@Price]*2", "name the table"),
        ("=SUM(INDEX(A1,1)#)", "no #"),
    ],
)
def test_what_programs_would_repair_is_refused(typed: str, reason: str) -> None:
    """The file would open without the formula, or not at all."""
    with pytest.raises(ValidationFailed, match=reason):
        checked_formula(typed, "A1")


def test_what_is_just_possible_is_taken() -> None:
    """The limits are those of the format."""
    for typed in (
        "ABS(" * 64 + "(" * 70 + "1" + ")" * 134,
        "SUM(" + ",".join(["1"] * 255) + ")",
        '"' + "x" * 255 + '"',
    ):
        assert checked_formula(typed, "A1") == typed


def test_no_empty_list_of_parts_stays() -> None:
    """A vector without an entry is against the schema of the properties."""
    root = etree.fromstring(
        '<P><HeadingPairs><vector size="2"><variant><lpstr>Worksheets</lpstr></variant><variant>'
        '<i4>1</i4></variant></vector></HeadingPairs><TitlesOfParts><vector size="1">'
        "<lpstr>Data</lpstr></vector></TitlesOfParts><Company>us</Company></P>"
    )
    assert rename_parts(root, lambda title: None)
    assert etree.tostring(root) == b"<P><Company>us</Company></P>"


def test_a_name_may_stand_for_a_function(tmp_path: Path) -> None:
    """The parameters of the function are no names of the workbook."""
    openpyxl.Workbook().save(tmp_path / "book.xlsx")
    meaning = "=LAMBDA(x,x*2)"
    book = edit(
        tmp_path / "book.xlsx", {"op": "define_name", "name": "Twice", "refers_to": meaning}
    )
    assert book.defined_names["Twice"].attr_text == "_xlfn.LAMBDA(_xlpm.x,_xlpm.x*2)"
