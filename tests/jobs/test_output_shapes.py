"""What steps that write need: their columns, the inputs that they name, names that tell apart."""

from collections.abc import Mapping
from typing import Any

import pytest

from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.documents import job_of
from kbd.jobs.shapes import GivenTable, shapes_of

INPUTS = [
    {"name": "sales", "file": "sales.csv"},
    {"name": "letter", "file": "letter.docx", "kind": "file"},
]  # fmt: skip
GIVEN = {
    "sales": GivenTable(
        (ShapeColumn("Region", "string"), ShapeColumn("Amount", "float")), "sales.csv"
    )
}


@pytest.mark.parametrize(
    "step",
    [
        {"do": "write", "file": "x.xlsx", "form": {
            "totals": {"amount": "sum", "Region": "count"}, "formats": {"Amount": "0.00"},
            "chart": {"kind": "bar", "category": "Region", "values": ["Amount"]}}},
        {"do": "split", "by": "Region", "file": "x.xlsx"},
        {"do": "split", "by": "Region", "file": "{value}.csv", "into": "files",
         "keep_column": False},
        {"do": "fill", "template": "letter", "file": "{value}.docx", "each": "Region",
         "values": {"total": "text(Amount, 2)"}, "rows": {"lines": "sales"},
         "pictures": {"logo": "letter"}},
        {"do": "fill", "template": "letter", "file": "one.docx"},
        {"do": "replace", "files": ["*.docx"], "search": "a", "replacement": "b"},
        {"do": "convert", "table": "sales", "file": "x.json"},
        {"do": "report", "text": "In all {Amount} of {region}"},
    ],
)  # fmt: skip
def test_steps_that_have_what_they_need_are_let_through(step: Mapping[str, Any]) -> None:
    """A step whose columns and inputs are there is no fault."""
    found = shapes_of(job_of({"inputs": INPUTS, "steps": [step]}), GIVEN)

    assert found.made == (None,)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"do": "write", "file": "x", "form": {"totals": {"Region": "sum"}}},
         '(write): column "Region" is a text, of which there is no total'),
        ({"do": "write", "file": "x", "form": {"formats": {"Amonut": "0"}}},
         'there is no column "Amonut"; did you mean "Amount"?'),
        ({"do": "write", "file": "x", "form": {"widths": {"x": 5}}}, 'there is no column "x"'),
        ({"do": "write", "file": "x", "form": {
            "chart": {"kind": "pie", "category": "Region", "values": ["Region"]}}},
         "of which there is no chart"),
        ({"do": "split", "by": "Rgion", "file": "x"}, 'did you mean "Region"?'),
        ({"do": "split", "by": "Region", "file": "x", "into": "files"},
         "file: a file for each value has {value} in its name"),
        ({"do": "split", "by": "Region", "file": "{value}.xlsx"}, "{value} is of files"),
        ({"do": "split", "by": "Region", "file": "x", "sheet": "s"},
         "sheet: a sheet for each value has {value} in its name"),
        ({"do": "split", "by": "Region", "file": "x", "keep_column": False,
          "form": {"totals": {"Region": "count"}}}, 'there is no column "Region"'),
        ({"do": "fill", "template": "sales", "file": "x"},
         'input "sales" is a table, and a file is needed'),
        ({"do": "fill", "template": "lettre", "file": "x"},
         'there is no input "lettre"; did you mean "letter"?'),
        ({"do": "fill", "template": "letter", "file": "x", "rows": {"a": "slaes"}},
         'there is no table "slaes"; did you mean "sales"?'),
        ({"do": "fill", "template": "letter", "file": "x", "values": {"a": "Amount +"}},
         'value of "a": character 9 of the expression'),
        ({"do": "fill", "template": "letter", "file": "x", "each": "Region"},
         "file: a file for each row needs both `each` and {value}"),
        ({"do": "fill", "template": "letter", "file": "x", "pictures": {"a": "sales"}},
         "a file is needed"),
        ({"do": "convert", "table": "letter", "file": "x"}, "a table is needed"),
        ({"do": "report", "text": "{Amuont}"}, 'did you mean "Amount"?'),
    ],
)  # fmt: skip
def test_steps_that_lack_something_are_refused(step: Mapping[str, Any], said: str) -> None:
    """What a step lacks is told before anything runs."""
    with pytest.raises(ValidationFailed) as caught:
        shapes_of(job_of({"inputs": INPUTS, "steps": [step]}), GIVEN)

    assert said in caught.value.message


def test_a_split_leaves_a_column() -> None:
    """Without the only column nothing would be written."""
    step = {"do": "split", "by": "a", "file": "x", "keep_column": False}
    given = {"sales": GivenTable((ShapeColumn("a", "string"),))}
    with pytest.raises(ValidationFailed, match="no column is left to be written"):
        shapes_of(job_of({"inputs": INPUTS[:1], "steps": [step]}), given)
