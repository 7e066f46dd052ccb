"""Small chores with spreadsheets, done by operations, and judged as the file is left.

They are the tasks of OfficeBench that change workbooks alone (its groups 1-4 to 1-11 and 1-14),
with the figures of its tables. Judged is more than there: the whole sheet as it is stored. Left out
are 1-10/3, 1-14/2 and 1-6/3: their checks name a sum that is wrong, a file that is not there, and a
workbook that the task does not name.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.formats import Source
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import (
    CellSetting,
    ClearRange,
    CopyRange,
    DeleteColumns,
    DeleteRows,
    DeleteRowsWhere,
    FillFormula,
    InsertColumns,
    RowCondition,
    SetCells,
    SetRange,
    SortColumn,
    SortRange,
    TypedValue,
    XlsxOperation,
)

FORMAT = XlsxFormat()
Row = tuple[Any, ...]
Rows = Sequence[Row]

HEADER = ("Name", "midterm1", "midterm2")
SCORES: Rows = (
    HEADER, ("Liam", 74, 72), ("Ivy", 64, 90), ("Alice", 78, 75), ("Alice", 93, 79),
    ("Jack", 71, 73), ("Peter", 60, 66), ("Kate", 64, 95), ("Sam", 99, 70), ("Noah", 65, 66),
    ("David", 95, 87), ("Bob", 97, 72), ("Frank", 77, 82), ("Alice", 89, 82), ("Sam", 85, 74),
    ("Tina", 100, 67), ("Peter", 66, 89), ("Rachel", 100, 71), ("Frank", 67, 63), ("Emma", 60, 93),
    ("Carol", 97, 100),
)  # fmt: skip
FEW_SCORES = (*SCORES[:4], SCORES[5])
SWAPPED_SCORES = (*SCORES[:4], SCORES[11])
SALARY: Rows = (("Name", "amount"), ("base", 200000), ("stock", 100000), ("bonus", 100000))
BUDGET: Rows = (("Name", "amount"), ("salary", 2000000), ("computer", 50000), ("entertain", 1000))
SHOPPING: Rows = (("Name", "amount"), ("apple", 2), ("cabbage", 2), ("onion", 2))
MORE_SHOPPING: Rows = (("Name", "amount"), ("apple", 2), ("cabbage", 3), ("onion", 4))
MEMBERS: Rows = (("Name",), ("Noah",), ("Carol",), ("Jack",), ("Mia",), ("Noah",))
CLASSES: Rows = (("Name", "Class"), ("Noah", 1), ("Carol", 3), ("Jack", 3))


def cells(**values: Any) -> SetCells:
    """Some cells of the sheet."""
    return SetCells("Sheet1", tuple(CellSetting(at, value) for at, value in values.items()))


def rows(start: str, *values: Row) -> SetRange:
    """Some rows of the sheet."""
    return SetRange("Sheet1", start, values)


def formula(area: str, text: str) -> FillFormula:
    """One formula for some cells of the sheet."""
    return FillFormula("Sheet1", area, text)


def exchanged(table: Rows, row: int, to: int) -> tuple[XlsxOperation, ...]:
    """Operations that exchange two rows, the upper one first."""
    last = len(table) + 1
    area = f"A{{0}}:{chr(64 + len(table[0]))}{{0}}"
    return (
        CopyRange("Sheet1", area.format(row), f"A{last}"),
        CopyRange("Sheet1", area.format(to), f"A{row}"),
        CopyRange("Sheet1", area.format(last), f"A{to}"),
        DeleteRows("Sheet1", last),
    )


def changed(table: Rows, **values: Any) -> Rows:
    """A table with other values in some cells."""
    found = [list(row) for row in table]
    for at, value in values.items():
        found[int(at[1:]) - 1][ord(at[0]) - 65] = value
    return [tuple(row) for row in found]


def beside(table: Rows, *column: Any) -> Rows:
    """A table with one more column."""
    return [(*row, value) for row, value in zip(table, column, strict=True)]


def without(table: Rows, *numbers: int) -> Rows:
    """A table without some rows."""
    return [row for number, row in enumerate(table, 1) if number not in numbers]


def columns(table: Rows, *numbers: int) -> Rows:
    """Some columns of a table."""
    return [tuple(row[number - 1] for number in numbers) for row in table]


def sorted_down(table: Rows) -> Rows:
    """A table whose rows stand by their second column, the highest first."""
    return [table[0], *sorted(table[1:], key=lambda row: -row[1])]


def trimmed(row: Row) -> Row:
    """A row without the empty cells at its end."""
    return trimmed(row[:-1]) if row and row[-1] is None else row


BY_SECOND = (SortColumn("B", descending=True),)
OTHER_COLUMN_FIRST = (
    InsertColumns("Sheet1", "B"),
    CopyRange("Sheet1", "D1:D5", "B1"),
    DeleteColumns("Sheet1", "D"),
)
AFTER_THREE_YEARS = (2000000 + 50000 + 1000) * 1.1**3
Task = tuple[Rows, tuple[XlsxOperation, ...], Rows]
TASKS: dict[str, Task] = {
    "1-4/0 another score": (SCORES, (cells(B12=100),), changed(SCORES, B12=100)),
    "1-4/1 one more thing to buy": (
        SHOPPING, (rows("A5", ("yogurt", 2)),), [*SHOPPING, ("yogurt", 2)],
    ),
    "1-4/2 a bonus": (
        SALARY, (rows("A5", ("annual bonus", 50000)),), [*SALARY, ("annual bonus", 50000)],
    ),
    "1-4/3 a fee": (
        BUDGET, (rows("A5", ("utilities fee", 300)),), [*BUDGET, ("utilities fee", 300)],
    ),
    "1-5/0 another score": (SCORES, (cells(B21=98),), changed(SCORES, B21=98)),
    "1-5/1 half as much": (SHOPPING, (cells(B2=1),), changed(SHOPPING, B2=1)),
    "1-5/2 an average for a day": (
        SALARY,
        (cells(A5="average salary", B5="=ROUNDDOWN(SUM(B2:B4)/365,0)"),),
        [*SALARY, ("average salary", 1095)],
    ),
    "1-5/3 growth of three years": (
        BUDGET,
        (cells(A5="predicted budget", B5="=SUM(B2:B4)*1.1^3"),),
        [*BUDGET, ("predicted budget", pytest.approx(AFTER_THREE_YEARS, rel=1e-12))],
    ),
    "1-6/0 classes": (
        MEMBERS,
        (rows("B1", ("Class",), (4,), (1,), (5,), (2,), (3,)),),
        beside(MEMBERS, "Class", 4, 1, 5, 2, 3),
    ),
    "1-6/1 one mark for everyone": (
        MEMBERS,
        (cells(B1="Attendance", B2="Y"), CopyRange("Sheet1", "B2", "B3:B6")),
        beside(MEMBERS, "Attendance", "Y", "Y", "Y", "Y", "Y"),
    ),
    "1-6/2 times one after another": (
        MEMBERS,
        (rows("B1", ("Meeting",), *((TypedValue(f"8:{m}0", "string"),) for m in range(5))),),
        beside(MEMBERS, "Meeting", "8:00", "8:10", "8:20", "8:30", "8:40"),
    ),
    "1-6/4 percentages": (
        BUDGET,
        (rows("C1", ("Increase Percentage Per Year",), (5,), (-10,), (10,)),),
        beside(BUDGET, "Increase Percentage Per Year", 5, -10, 10),
    ),
    "1-6/5 costs": (
        SHOPPING,
        (cells(C1="Cost"), formula("C2:C4", '=B2*IF(A2="apple",2,1.5)')),
        beside(SHOPPING, "Cost", 4, 3, 3),
    ),
    "1-7/0 one student": (
        FEW_SCORES,
        (DeleteRowsWhere("Sheet1", "A1:C5", "Name", RowCondition("=", "Alice")),),
        without(FEW_SCORES, 4),
    ),
    "1-7/1 the third student": (SCORES, (DeleteRows("Sheet1", 4),), without(SCORES, 4)),
    "1-7/2 the first three students": (
        SCORES, (DeleteRows("Sheet1", 2, 3),), without(SCORES, 2, 3, 4),
    ),
    "1-7/3 a line of salaries": (SALARY, (DeleteRows("Sheet1", 3),), without(SALARY, 3)),
    "1-7/4 a line of a budget": (BUDGET, (DeleteRows("Sheet1", 3),), without(BUDGET, 3)),
    "1-7/5 a thing not to buy": (
        SHOPPING,
        (DeleteRowsWhere("Sheet1", "A1:B4", "A", RowCondition("=", "onion")),),
        without(SHOPPING, 4),
    ),
    "1-8/0 all scores": (FEW_SCORES, (ClearRange("Sheet1", "A1:C5"),), []),
    "1-8/1 a column": (CLASSES, (DeleteColumns("Sheet1", "B"),), columns(CLASSES, 1)),
    "1-8/2 amounts": (SALARY, (ClearRange("Sheet1", "B1:B4"),), columns(SALARY, 1)),
    "1-8/3 everything": (BUDGET, (DeleteRows("Sheet1", 1, 4),), []),
    "1-8/4 a column of amounts": (SHOPPING, (DeleteColumns("Sheet1", "B"),), columns(SHOPPING, 1)),
    "1-9/0 averages": (
        SCORES,
        (cells(A22="Average"), formula("B22:C22", "=AVERAGE(B2:B21)")),
        [*SCORES, ("Average", pytest.approx(80.05), pytest.approx(78.3))],
    ),
    "1-9/1 the one nearest to the average": (
        SCORES, (CopyRange("Sheet1", "A4:C4", "A22"),), [*SCORES, SCORES[3]],
    ),
    "1-9/2 a year of salary": (
        SALARY, (cells(A5="Total", B5="=SUM(B2:B4)"),), [*SALARY, ("Total", 400000)],
    ),
    "1-9/3 all costs": (
        BUDGET, (cells(A5="Total", B5="=SUM(B2:B4)"),), [*BUDGET, ("Total", 2051000)],
    ),
    "1-9/4 all weights": (
        SHOPPING, (cells(A5="Total", B5="=SUM(B2:B4)"),), [*SHOPPING, ("Total", 6)],
    ),
    "1-9/5 an average weight": (
        SHOPPING, (cells(A5="Average", B5="=AVERAGE(B2:B4)"),), [*SHOPPING, ("Average", 2)],
    ),
    "1-10/2 the highest again": (
        SALARY, (CopyRange("Sheet1", "A2:B2", "A5"),), [*SALARY, ("base", 200000)],
    ),
    "1-11/0 scores by the first": (
        FEW_SCORES,
        (SortRange("Sheet1", "A1:C5", header=True, by=BY_SECOND),),
        sorted_down(FEW_SCORES),
    ),
    "1-11/1 the first of two scores": (
        FEW_SCORES, (DeleteColumns("Sheet1", "C"),), columns(FEW_SCORES, 1, 2),
    ),
    "1-11/1 the second of two scores": (
        FEW_SCORES, (DeleteColumns("Sheet1", "B"),), columns(FEW_SCORES, 1, 3),
    ),
    "1-11/3 a budget by amount": (
        BUDGET,
        (SortRange("Sheet1", "A1:B4", header=True, by=BY_SECOND),),
        sorted_down(BUDGET),
    ),
    "1-14/0 two rows": (
        SWAPPED_SCORES,
        exchanged(SWAPPED_SCORES, 4, 5),
        [*SWAPPED_SCORES[:3], SWAPPED_SCORES[4], SWAPPED_SCORES[3]],
    ),
    "1-14/1 two columns": (SWAPPED_SCORES, OTHER_COLUMN_FIRST, columns(SWAPPED_SCORES, 1, 3, 2)),
    "1-14/3 fewest and second fewest": (
        MORE_SHOPPING,
        exchanged(MORE_SHOPPING, 2, 3),
        [MORE_SHOPPING[0], MORE_SHOPPING[2], MORE_SHOPPING[1], MORE_SHOPPING[3]],
    ),
    "1-14/4 highest and second highest": (
        BUDGET, exchanged(BUDGET, 2, 3), [BUDGET[0], BUDGET[2], BUDGET[1], BUDGET[3]],
    ),
}  # fmt: skip


@pytest.mark.sampled(11)
@pytest.mark.parametrize("task", TASKS)
def test_a_chore_is_done_as_the_file_is_left(tmp_path: Path, task: str) -> None:
    """The operations do what was asked for, and nothing else stands in the sheet."""
    table, operations, wanted = TASKS[task]
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Sheet1"
    for row in table:
        book.worksheets[0].append(row)
    given, made = tmp_path / "given.xlsx", tmp_path / "made.xlsx"
    book.save(given)
    applied = FORMAT.apply(Source(given, given.name), operations, made)
    calculate_open(FORMAT, Source(made, made.name), applied, now_us=0)
    sheet = openpyxl.load_workbook(made, data_only=True).worksheets[0]
    stored = [trimmed(row) for row in sheet.iter_rows(values_only=True)]
    while stored and not stored[-1]:
        stored.pop()
    assert stored == [*wanted]
