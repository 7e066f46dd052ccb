"""Rows below the last total: remarks on it are out of the table, later rows count, else it asks."""

from typing import Any

import pytest

from backends import on_trio
from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_trio]

HOURS = "Datum;Projekt;Std\n01.05.2024;Alpha;7,50\n02.05.2024;Beta;8,00\n03.05.2024;Alpha;4,00\n"
ITEMS = "Item,Amount\na,10\nb,20\nc,5\n"

REMARKS: dict[str, tuple[str, list[int]]] = {
    "target and difference": (f"{HOURS};Summe;19,50\n;Soll;24,00\n;Differenz;-4,50\n", [5, 6, 7]),
    "labels in the column of dates": (f"{HOURS}Summe;;19,50\nSoll;;24,00\n", [5, 6]),
    "a label that is not known": (f"{HOURS};Summe;19,50\n;Vertrag Nord;24,00\n", [5, 6]),
    "a word among dates": (f"{HOURS};Summe;19,50\nSoll;laut Plan;24,00\n", [5, 6]),
    "a known label": (f"{ITEMS}Total,35\nBudget,40\n", [5, 6]),
    "a tax in a total": (f"{ITEMS}Summe,35\ndavon MwSt 19 %,5.59\nVAT,5.59\n", [5, 6, 7]),
    "a word below years": ("Year,Amount\n2020,1\n2021,2\nTotal,3\nOutlook,5\n", [4, 5]),
    "no number": (
        "Nr,Item,Amount\n1,a,10\n2,b,20\n,Total,30\n,Freight not in it,8\n", [4, 5],
    ),
    "an amount that does not agree": (f"{ITEMS}Total,35\nNetto,40\n", [5, 6]),
    "a word without a figure": (f"{ITEMS}Total,35\nchecked by Maier,\n", [5, 6]),
    "below subtotals": (
        ("Group,Item,Amount\nFood,a,1\nFood,b,2\nFood total,,3\nCar,c,4\nCar,d,5\nCar total,,9\n"
         "Grand total,,12\nTarget,,15\n"),
        [4, 7, 8, 9],
    ),
}  # fmt: skip
"""Tables, and the rows of the file that are left out."""

COUNTED: dict[str, tuple[str, int]] = {
    "a day and a project": (f"{HOURS};Summe;19,50\n04.05.2024;Beta;6,00\n", 4),
    "a year": ("Year,Amount\n2020,1\n2021,2\nTotal,3\n2022,7\n", 3),
    "a city": ("Customer,City,Amount\nAnna,Rome,1\nBen,Oslo,2\nTotal,,3\nMax,Bonn,4\n", 3),
    "a group that has no subtotal yet": (
        "Group,Item,Amount\nFood,a,1\nFood,b,2\nFood total,,3\nCar,c,4\nCar,d,5\n",
        4,
    ),
    "after a subtotal": ("Item,Amount\na,1\nb,2\nSubtotal,3\nc,4\nd,5\n", 4),
    "a tax that a later total counts": ("Item,Amount\na,10\nb,20\nTotal,30\nVAT,6\nTotal,36\n", 3),
}
"""Tables, and how many rows they have: those below a total count."""

ASKED: dict[str, tuple[str, tuple[str, str, str]]] = {
    "an item": (
        f"{ITEMS}Total,35\nd,5\n", ("35 in 3 rows", "40 in 4 rows", "75 in 5 rows"),
    ),
    "a known label in a row like others": (
        f"{HOURS};Summe;19,50\n31.05.2024;Soll;24,00\n",
        ("19.5 in 3 rows", "43.5 in 4 rows", "63 in 5 rows"),
    ),
    "a remark beside": (
        f"{ITEMS}Total,35\nBudget,40\nd,5\n", ("35 in 3 rows", "80 in 5 rows", "115 in 6 rows"),
    ),
    "some of the columns": (
        "Day,Shop,Kind,Amount\n2024-01-01,a,x,1\n2024-01-02,b,y,2\n,Total,,3\n2024-01-03,c,,5\n",
        ("3 in 2 rows", "8 in 3 rows", "11 in 4 rows"),
    ),
    "a remark below a subtotal": (
        f"{ITEMS}Subtotal,35\nVAT,7\n", ("35 in 3 rows", "42 in 4 rows", "77 in 5 rows"),
    ),
}  # fmt: skip
"""Tables, and what the figures come to by each answer."""


async def _map(workbench: Workbench, ask: Ask, text: str, **arguments: Any) -> dict[str, Any]:
    workbench.add("t.csv", text)
    return dict(await ask("get_map", path="t.csv", **arguments))


def _rows_out(found: dict[str, Any]) -> list[int]:
    return sorted(row for each in found["reading"].get("left_out", ()) for row in each["rows"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REMARKS)
async def test_remarks_on_a_total_are_left_out(workbench: Workbench, ask: Ask, name: str) -> None:
    """They are named as what they are, and one can have them as rows without the total."""
    text, rows = REMARKS[name]
    found = await _map(workbench, ask, text)
    assert _rows_out(found) == rows
    assert not found["reading"].get("questions")
    assert any("remark below the last total" in warning for warning in found["warnings"])
    kept = await ask("get_map", path="t.csv", read_as={"totals": "leave_out_proven"})
    remarks = sum(
        each["count"] for each in found["reading"]["left_out"] if "remark" in each["what"]
    )
    assert kept["row_count"] == found["row_count"] + remarks


@pytest.mark.parametrize("name", COUNTED)
async def test_rows_that_are_filled_as_others_count(
    workbench: Workbench, ask: Ask, name: str
) -> None:
    """What was appended below a total is a row of the table, and nothing is asked."""
    text, count = COUNTED[name]
    found = await _map(workbench, ask, text)
    assert found["row_count"] == count
    assert not found["reading"].get("questions")


async def test_rows_below_the_end_are_told(workbench: Workbench, ask: Ask) -> None:
    """Where a total ends the table, a row that counts below it is named."""
    found = await _map(workbench, ask, COUNTED["a day and a project"][0])
    assert any(
        "1 row stands below the last total and is counted" in warning and "row 6" in warning
        for warning in found["warnings"]
    )


@pytest.mark.parametrize("name", ASKED)
async def test_what_may_be_either_is_asked(workbench: Workbench, ask: Ask, name: str) -> None:
    """The question has the figures of each answer, and they are what the answer gives."""
    text, figures = ASKED[name]
    found = await _map(workbench, ask, text)
    (question,) = found["reading"]["questions"]
    options = {one["value"]: one["meaning"] for one in question["options"]}
    assert [*options] == ["leave_out", "leave_out_proven", "keep"]
    assert tuple(each.partition(" adds up to ")[2] for each in options.values()) == figures
    with pytest.raises(ValidationFailed, match="leave_out_proven"):
        await ask("query", path="t.csv", query="SELECT count(*) FROM data")
    for answer, meaning in options.items():
        column, _, figure = meaning.partition(" adds up to ")
        told = await ask("query", path="t.csv", read_as={"totals": answer},
                         query=f'SELECT sum("{column}"), count(*) FROM data')  # fmt: skip
        assert f"{told['rows'][0][0]:g} in {told['rows'][0][1]} rows" == figure


async def test_the_question_has_the_row_of_the_file(workbench: Workbench, ask: Ask) -> None:
    """Rows that are left out before it count, as they do in the file."""
    found = await _map(workbench, ask, f"{ITEMS}Total,35\nGrand total,90\n")
    (question,) = found["reading"]["questions"]
    assert question["text"].startswith("Row 6 (Grand total | 90)")


async def test_remarks_below_a_total_in_doubt(workbench: Workbench, ask: Ask) -> None:
    """They are part of the question whether it is a total."""
    found = await _map(workbench, ask, f"{HOURS};Summe;19,00\n;Soll;24,00\n")
    (question,) = found["reading"]["questions"]
    assert question["text"].startswith("2 rows may sum others up, or stand below")
    assert [one["meaning"] for one in question["options"]] == [
        "Std adds up to 19.5 in 3 rows", "Std adds up to 62.5 in 5 rows",
    ]  # fmt: skip


async def test_remarks_below_a_total_beside_figures_that_stay_text(
    workbench: Workbench, ask: Ask
) -> None:
    """A column whose numbers are not written alike is text, and leaves its total in doubt."""
    text = (
        "Projekt;Datum;Std;Betrag\nA;03.01.2025;7,50;1.234,00\nB;04.01.2025;8,00;1'000,50\n"
        "C;05.01.2025;4,00;12,00\nSumme;;19,50;2.246,50\nSoll;;24,00;\n"
    )
    found = await _map(workbench, ask, text)
    (question,) = found["reading"]["questions"]
    assert [one["meaning"] for one in question["options"]] == [
        "Std adds up to 19.5 in 3 rows", "Std adds up to 63 in 5 rows",
    ]  # fmt: skip
