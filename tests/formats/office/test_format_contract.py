"""Every format keeps what every handler promises, on good files of it and on damaged ones."""

from pathlib import Path

import pytest

from format_cases import FormatCase, OfficeCase, names
from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.testing.formats import check_format, check_styles
from office_formats import FORMATS, OFFICE


@pytest.mark.parametrize("case", FORMATS, ids=names)
def test_contract(case: FormatCase, tmp_path: Path) -> None:
    """It is asked for all that it can do, and what it writes is asked for, too."""
    (tmp_path / "samples").mkdir()
    (tmp_path / "work").mkdir()
    samples = case.samples(tmp_path / "samples")

    check_format(
        case.handler, samples, tmp_path / "work", edits=case.edits, bad_edits=case.bad_edits
    )


@pytest.mark.parametrize("case", OFFICE, ids=names)
def test_a_good_file_lists_assets_of_each_kind(case: OfficeCase, tmp_path: Path) -> None:
    """What is told of looks lists what the contract copies: one of each kind, at least."""
    source = case.packed(tmp_path / f"a{case.suffix}")
    listed = case.handler.get_styles(source, None)["assets"]

    assert {asset["kind"] for asset in listed} == case.asset_kinds


@pytest.mark.full
@pytest.mark.parametrize("case", OFFICE, ids=names)
def test_all_that_is_listed_is_copied_or_refused(case: OfficeCase, tmp_path: Path) -> None:
    """Of a file of rich looks each asset goes into others, or is refused in words."""
    (tmp_path / "work").mkdir()
    path = tmp_path / f"branded{case.suffix}"
    case.branded(path)

    check_styles(case.handler, Source(path, path.name), tmp_path / "work")


@pytest.mark.parametrize(
    "case", [case for case in OFFICE if "sheet" not in case.handler.coordinates], ids=names
)
def test_a_file_without_sheets_has_none_to_look_at(case: OfficeCase, tmp_path: Path) -> None:
    """A sheet is refused, with what to do."""
    source = case.packed(tmp_path / f"a{case.suffix}")

    with pytest.raises(ValidationFailed, match="no sheets; leave sheet out"):
        case.handler.get_styles(source, "Sheet1")
