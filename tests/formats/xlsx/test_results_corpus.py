"""Results in real workbooks: what kbd stores is what is stored, or it is named."""

from pathlib import Path

import pytest

from calculated_books import all_compared

OTHERS = {
    # TEXT(67.1,"00.00") as a German program reads the format.
    "poi__61495-test.xlsm TEST!B1",
    # A line break of the formula that the stored text has as two characters.
    "poi__dataValidationTableRange.xlsx County Ranking!G7",
    # A library has stored #NAME? for a name that is defined on another sheet.
    "closedxml__named-ranges-global.xlsx Sheet2!A6",
}
"""Results that differ, and are right."""


@pytest.mark.full
def test_results_are_those_that_are_stored(corpora: Path) -> None:
    """Of some 20,000 formulas of real workbooks not one has a result that nobody can explain."""
    found = list(all_compared(corpora))
    same = [each for each in found if each.is_same]
    other = {
        each.place: each
        for each in found
        if each.found is not None and not each.is_same and not each.is_momentary
    }
    assert set(other) <= OTHERS, [other[place] for place in set(other) - OTHERS][:20]
    assert len(same) > 5_000
    # What has no result has a reason.
    assert all(each.reason for each in found if each.found is None)
