"""Rows of JSON that are arrays are rows of a table, the first one its header."""

from pathlib import Path
from typing import Any

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs, Source, Table
from kbd_text.json_tables import read_table

ROWS = '["Name","Amount"]\n["Anna",1.50]\n["Bert",2.25]\n'


def _read(folder: Path, text: str, name: str = "a.jsonl", **said: Any) -> tuple[Table, list[str]]:
    path, plain = folder / "blob", folder / "plain"
    path.write_text(text)
    table = read_table(Source(path, name), None, ReadAs(**said), plain)
    return table, plain.read_text().splitlines()


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_the_first_array_names_the_columns(tmp_path: Path, name: str) -> None:
    """Texts above figures are names; each value keeps its digits and its type."""
    text = ROWS if name == "a.jsonl" else f"[{','.join(ROWS.splitlines())}]"
    table, lines = _read(tmp_path, text, name)
    assert lines == ["Name,Amount", "Anna,1.50", "Bert,2.25"]
    assert [(each.name, each.type) for each in table.columns] == [
        ("Name", None), ("Amount", "float"),
    ]  # fmt: skip
    assert (table.row_count, table.reading.header_row) == (2, 1)
    assert table.reading.questions == ()


def test_arrays_without_names_have_none(tmp_path: Path) -> None:
    """A number is no name, and what was said goes before what it looks like."""
    table, lines = _read(tmp_path, '[1,"a"]\n[2,"b"]\n')
    assert (lines[0], table.row_count, table.reading.header_row) == ("column_1,column_2", 2, 0)
    table, lines = _read(tmp_path, ROWS, header_row=0)
    assert (lines[1], table.row_count) == ("Name,Amount", 3)
    with pytest.raises(ValidationFailed, match="header_row of rows that are arrays is 1, or 0"):
        _read(tmp_path, ROWS, header_row=2)


def test_texts_above_texts_are_asked_about(tmp_path: Path) -> None:
    """Nothing tells whether the first row has names, so nothing is worked out before it is said."""
    text = '["Name","Size"]\n["Anna","1.5"]\n["Bert","2"]\n'
    table, _ = _read(tmp_path, text)
    (question,) = table.reading.questions
    assert (question.about, [each.value for each in question.options]) == ("header_row", ["1", "0"])
    assert [each.type for each in table.columns] == ["string", "string"]
    for said, rows in ((1, 2), (0, 3)):
        table, _ = _read(tmp_path, text, header_row=said)
        assert (table.row_count, table.reading.questions) == (rows, ())


def test_arrays_of_other_lengths_are_told(tmp_path: Path) -> None:
    """A short row has gaps, a long one a column more; what is no JSON is left out."""
    more = "".join(f'["n{n}",{n}]\n' for n in range(10))
    table, lines = _read(tmp_path, ROWS + more + '["Cleo"]\n["Dora",3,"x"]\nno json\n')
    assert lines[0] == "Name,Amount,column_3"
    assert lines[-2:] == ["Cleo,,", "Dora,3,x"]
    (odd,) = table.reading.repaired
    assert (odd.count, odd.rows, odd.sample) == (2, (14, 15), '["Cleo"]')
    (gone,) = table.reading.left_out
    assert gone.rows == (16,)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('["a","b"]\n["c"]\n["d","e","f"]\n', 3),
        ('["a","b"]\n{"c":1}\n["d",2]\n', 3),
        ('["a","b"]\n', 1),
        ("[]\n[]\n", 2),
    ],
)
def test_lists_of_values_stay_values(tmp_path: Path, text: str, rows: int) -> None:
    """Arrays of all lengths, beside records or alone, are no rows with columns."""
    table, lines = _read(tmp_path, text)
    assert lines[0].startswith("value")
    assert table.row_count == rows
    with pytest.raises(ValidationFailed, match="no header_row"):
        _read(tmp_path, text, header_row=1)
