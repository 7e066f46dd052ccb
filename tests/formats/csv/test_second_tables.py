"""Other tables of as many columns below an empty line: left out, or told of."""

from pathlib import Path

import pytest

from tables_of_text import left_out, read, repaired

MAY_HEAD = "row below an empty line that may head another table, kept"
OTHER = "another table"
PEOPLE = "Name,Amount\nAnna,1\nBert,2\nCleo,3\n"
TEXTS = "Name,Town\nAnna,Ulm\nBert,Bonn\n\n"


@pytest.mark.parametrize(
    ("data", "rows", "other"),
    [
        (PEOPLE + "\nCity,People\nUlm,100\nBonn,200\n", 3, (6, 7, 8)),
        (PEOPLE + "\nCity,People\nUlm,100\n", 3, (6, 7)),
        (PEOPLE + "\nCities\nCity,People\nUlm,100\nBonn,200\n", 3, (7, 8, 9)),
        (PEOPLE + ",\nCities,\nCity,People\nUlm,100\nBonn,200\n", 3, (7, 8, 9)),
        ("Id,Name,Sum\n1,Anna,5\n2,Bert,6\n\nId,Color,Price\n7,red,5\n8,blue,6\n", 2, (5, 6, 7)),
        ("a,b\n1,2\n3,4\n\nc,d\n5,6\n7,8\n", 2, (5, 6, 7)),
    ],
)
def test_a_table_below_another_is_none_of_it(
    tmp_path: Path, data: str, rows: int, other: tuple[int, ...]
) -> None:
    """Texts above figures head another table, however short both are, with a title or without."""
    found = read(tmp_path, data)

    assert found.table.row_count == rows
    assert (OTHER, len(other), other) in left_out(found)
    assert repaired(found) == []


def test_texts_below_texts_are_told_of(tmp_path: Path) -> None:
    """Nothing tells whether they are rows: they are counted, and how else they can be read."""
    found = read(tmp_path, TEXTS + "City,Country\nUlm,DE\nBonn,DE\n")

    assert found.table.row_count == 5
    assert repaired(found) == [(MAY_HEAD, 1, (5,))]
    assert "Row 5 (City,Country) stands below an empty line" in " ".join(found.table.warnings)
    assert "header_row 5 reads them alone" in " ".join(found.table.warnings)


@pytest.mark.parametrize(
    "data",
    [
        TEXTS + "Cleo,Kiel 2\nDora,Jena\n",
        TEXTS + "Cleo,Kiel\n",
        TEXTS + "Cleo,Kiel\n\nDora,Jena\n\nEmil,Hof\n\nFine,Rom\n\nGerd,Bern\n",
        PEOPLE + "\nDora,n/a\nEmil,7\n",
        PEOPLE + "\nDora,4\nEmil,7\n",
    ],
)
def test_rows_that_go_on_below_gaps_are_rows(tmp_path: Path, data: str) -> None:
    """A figure in them, nothing below them, or many gaps speak against a header."""
    found = read(tmp_path, data)

    assert found.table.row_count == sum(1 for line in data.splitlines() if line) - 1
    assert repaired(found) == []
