"""JSON as a table: every record a row, every key a column, numbers with their digits."""

import csv
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ReadAs, Source, Table
from kbd.testing.tools import Workbench
from kbd_tables import kbd_register_tools
from kbd_text.handler import TextFormat

NESTED = '[{"id": 1, "tags": ["a", "b"], "at": {"x": 1.50}}, {"id": 2, "more": null}]'


def table(
    tmp_path: Path, data: bytes | str, name: str = "a.json", sheet: str | None = None, **said: str
) -> tuple[Table, list[list[str]]]:
    blob, target = tmp_path / "blob", tmp_path / "plain"
    blob.write_bytes(data.encode() if isinstance(data, str) else data)
    read_as = ReadAs(**said)  # type: ignore[arg-type]
    found = TextFormat().read_table(Source(blob, name), sheet, read_as, target)
    with target.open(encoding="utf-8", newline="") as file:
        return found, list(csv.reader(file))


def test_records_are_rows(tmp_path: Path) -> None:
    """Keys in the order in which they come first; nested values are JSON, null is empty."""
    found, rows = table(tmp_path, NESTED)
    assert rows == [
        ["id", "tags", "at", "more"],
        ["1", '["a", "b"]', '{"x": 1.50}', ""],
        ["2", "", "", ""],
    ]
    assert [(c.name, c.type) for c in found.columns] == [
        ("id", "integer"), ("tags", None), ("at", None), ("more", None),
    ]  # fmt: skip
    assert found.row_count == 2


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    """A number is one, whatever it looks like; no digit is lost."""
    text = '[{"a": 12.50, "b": 1, "c": true, "d": "1.234", "e": 12345678901234567890},'
    found, rows = table(tmp_path, text + ' {"a": 1, "b": 2, "c": false, "d": "007", "e": 1e5}]')
    assert rows[1:] == [
        ["12.50", "1", "true", "1.234", "12345678901234567890"], ["1", "2", "false", "007", "1e5"],
    ]  # fmt: skip
    types = [column.type for column in found.columns]
    assert types == ["float", "integer", "boolean", None, "float"]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_text_among_numbers_is_asked_about(tmp_path: Path, name: str) -> None:
    """Where a text has two readings the column is one of texts until it is said; as in a sheet."""
    records = ['{"n": "a", "v": 1500}', '{"n": "b", "v": "1.234"}', '{"n": "c", "v": 1.234}']
    text = f"[{', '.join(records)}]" if name == "a.json" else "\n".join(records)
    found, rows = table(tmp_path, text, name)
    (question,) = found.reading.questions
    assert (question.about, question.columns) == ("decimal", ("v",))
    assert question.text in found.warnings
    assert (found.columns[1].type, [row[1] for row in rows[1:]]) == (
        "string", ["1500", "1.234", "1.234"],
    )  # fmt: skip

    said, plain = table(tmp_path, text, name, decimal=",")
    assert said.reading.questions == ()
    assert (said.columns[1].type, [row[1] for row in plain[1:]]) == (
        "float", ["1500", "1234", "1.234"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ('[{"v": 1.5}, {"v": "2,25"}, {"v": 3}]', "float", ["1.5", "2.25", "3"]),
        ('[{"v": 1}, {"v": "2"}, {"v": "n/a"}]', "integer", ["1", "2", ""]),
        ('[{"v": 1}, {"v": "007"}]', None, ["1", "007"]),
        ('[{"v": 1}, {"v": [2]}]', None, ["1", "[2]"]),
        ('[{"v": "1.234"}, {"v": "2.500"}]', None, ["1.234", "2.500"]),
    ],
)
def test_texts_among_numbers(
    tmp_path: Path, text: str, kind: str | None, values: list[str]
) -> None:
    """A text of one reading is a number among numbers; a code is none, nor are texts alone."""
    found, rows = table(tmp_path, text)
    assert (found.columns[0].type, [row[0] for row in rows[1:]]) == (kind, values)
    assert found.reading.questions == ()


def test_one_record_a_line(tmp_path: Path) -> None:
    """Blank lines are none; a line that is no JSON is left out, and named."""
    text = '\ufeff{"a": 1}\r\n\r\n{"a": 2, "A": 3}\nnot json\n5\n'
    found, rows = table(tmp_path, text, "a.jsonl")
    assert rows == [["a", "A_2", "value"], ["1", "", ""], ["2", "3", ""], ["", "", "5"]]
    (left,) = found.reading.left_out
    assert (left.count, left.rows, left.sample) == (1, (4,), "not json")
    assert found.warnings == ("1 line(s) are no valid JSON and were left out: 4.",)


def test_a_list_in_an_object(tmp_path: Path) -> None:
    """The only list of records is the table; of several one has to be named."""
    one = '{"count": 1, "names": ["x"], "rows": [ {"a": 1}]}'
    found, rows = table(tmp_path, one)
    assert (rows, found.details) == ([["a"], ["1"]], {"records_at": "rows"})
    two = '{"orders": [{"a": 1}], "customers": [{"b": 2}, {"b": 3}]}'
    assert table(tmp_path, two, sheet="customers")[0].row_count == 2
    with pytest.raises(ValidationFailed, match="name one of: orders, customers"):
        table(tmp_path, two)
    with pytest.raises(ValidationFailed, match="no list nope; it has: orders, customers"):
        table(tmp_path, two, sheet="nope")


def test_encodings(tmp_path: Path) -> None:
    """UTF-16 and marks are read; one that is said is taken."""
    for codec in ("utf-8-sig", "utf-16", "utf-8"):
        assert table(tmp_path, '[{"ä": "é"}]'.encode(codec))[1] == [["ä"], ["é"]]
    data = '[{"a": "Łódź"}]'.encode("cp1250")
    assert table(tmp_path, data, encoding="cp1250")[1] == [["a"], ["Łódź"]]
    with pytest.raises(ValidationFailed, match="there is no encoding nope"):
        table(tmp_path, data, encoding="nope")


@pytest.mark.parametrize(
    ("text", "name", "fault"),
    [
        ('[{"a": 1}', "a.json", FileReadFailed),
        ("[" * 5_000, "a.json", FileReadFailed),
        ("", "a.json", ValidationFailed),
        ("5", "a.json", ValidationFailed),
        ('{"a": 1}', "a.json", ValidationFailed),
        ("x\ny\n", "a.jsonl", FileReadFailed),
        ("a,b\n", "a.txt", ValidationFailed),
    ],
)
def test_what_is_no_list_of_records(
    tmp_path: Path, text: str, name: str, fault: type[Exception]
) -> None:
    """It is refused, and says why."""
    with pytest.raises(fault):
        table(tmp_path, text, name)


@pytest.mark.anyio
async def test_json_is_queried_as_every_table(tmp_path: Path) -> None:
    """With types, and joined with others; a text file is no table beside it."""
    workbench = Workbench(tmp_path / "workbench", [TextFormat()])
    workbench.add("people.json", '[{"id": 1, "born": "2001-02-03"}, {"id": 2, "born": null}]')
    workbench.add("paid.jsonl", '{"id": 1, "amount": 12.50}\n{"id": 1, "amount": 1}\n')
    workbench.add("notes.txt", "words")
    workbench.add("odd.json", r'[{"a": "x\r\ny,\"z"}, {"a": null}, {"a": "\r"}, {"a": "b\u0000c"}]')
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    found = await workbench.call(
        tools["table_query"], path="people.json",
        query="SELECT born, sum(amount) AS paid FROM data JOIN paid USING (id) GROUP BY 1",
    )  # fmt: skip
    assert found.value["column_types"] == ["date", "float"]
    assert found.value["rows"] == [["2001-02-03", 13.5]]
    whole = await workbench.call(
        tools["table_query"], path="odd.json", query="FROM data", read_as={"blanks": "keep"}
    )
    assert whole.value["rows"] == [['x\r\ny,"z'], [None], ["\r"], ["bc"]]
    # As in every table a text has no blanks around it, which is told.
    odd = await workbench.call(tools["table_query"], path="odd.json", query="FROM data")
    assert odd.value["rows"] == [['x\r\ny,"z'], [None], [None], ["bc"]]
    assert any("blanks around texts" in sentence for sentence in odd.told)
    with pytest.raises(ValidationFailed, match=r"notes\.txt is not a table"):
        await workbench.call(tools["table_get_map"], path="notes.txt")
    assert "text" not in str(tools["table_export"].arguments.__annotations__["format"])
