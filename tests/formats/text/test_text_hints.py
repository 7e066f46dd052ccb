"""What the map of a text says of its contents: JSON, records, rows."""

from pathlib import Path
from typing import Any

import pytest

from kbd.formats import Source
from kbd_text.handler import TextFormat
from kbd_text.text_map import MAX_CHUNKS, MAX_JSON_CHARS, MAX_KEYS


def mapped(tmp_path: Path, text: str, name: str) -> dict[str, Any]:
    path = tmp_path / "blob"
    path.write_text(text, "utf-8")
    return TextFormat().map(Source(path, name))


@pytest.mark.parametrize("name", ["a.json", "a.geojson", "a.ipynb", "A.JSON"])
def test_json_of_any_suffix_tells_its_top(tmp_path: Path, name: str) -> None:
    """An object lists its keys, an array the keys of its first item."""
    found = mapped(tmp_path, '{"b": 1, "a": 2}', name)

    assert (found["top_level"], found["keys"]) == ("object", ["b", "a"])


def test_many_keys_are_counted(tmp_path: Path) -> None:
    """Some are listed, the count is of all."""
    found = mapped(tmp_path, "{" + ",".join(f'"k{n}":1' for n in range(900)) + "}", "a.json")

    assert (len(found["keys"]), found["key_count"]) == (MAX_KEYS, 900)


def test_large_json_tells_only_how_it_begins(tmp_path: Path) -> None:
    """It is not parsed; its lines can be read."""
    found = mapped(tmp_path, '\n  [{"a": 1},\n"' + "x" * MAX_JSON_CHARS, "a.json")

    assert found["top_level"] == "array"
    assert "keys" not in found
    assert found["line_count"] == 3


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson"])
def test_records_tell_the_keys_of_the_first(tmp_path: Path, name: str) -> None:
    """One record a line: blank lines before it are passed over."""
    found = mapped(tmp_path, '\n{"id": 1, "name": "x"}\n{"id": 2}\n', name)

    assert (found["top_level"], found["keys"]) == ("lines", ["id", "name"])
    assert "json_error" in mapped(tmp_path, "id;name\n", name)


@pytest.mark.parametrize(
    ("text", "delimiter", "columns"),
    [
        ("Day,Item,Sum\n1,a,2\n2,b,3\n", ",", ["Day", "Item", "Sum"]),
        ('Day;"a;b"\n1;2,5\n2;3,5\n', ";", ["Day", "a;b"]),
        ("1\t2\n3\t4\n5\t6\n", "\t", []),
        ("a|b|\n1|2|\n3|4|\n", "|", []),
    ],
)
def test_rows_in_a_text_are_noticed(
    tmp_path: Path, text: str, delimiter: str, columns: list[str]
) -> None:
    """Where all first lines have as many fields: the delimiter, and names if there are any."""
    found = mapped(tmp_path, text, "export.txt")

    assert found["looks_like"] == "table"
    assert (found["delimiter"], found["columns"]) == (delimiter, columns)
    assert found["column_count"] == len(text.split("\n")[1].split(delimiter))


@pytest.mark.parametrize(
    "text",
    [
        "One, two and three.\nNothing here.\nFour, five.\n",
        "a,b\n1,2\n",
        "plain\nlines\nof text\n",
        "",
        "x" * 5000 + ",a\n" + "y,b\nz,c\nd,e\n",
    ],
)
def test_prose_is_no_table(tmp_path: Path, text: str) -> None:
    """Commas in sentences, two lines, one column, endless lines."""
    assert "looks_like" not in mapped(tmp_path, text, "a.txt")


def test_code_is_not_guessed_at(tmp_path: Path) -> None:
    """Only names that promise nothing are looked at for rows."""
    assert "looks_like" not in mapped(tmp_path, "a,b\n" * 9, "a.py")


def test_a_map_lists_so_many_chunks(tmp_path: Path) -> None:
    """The chunks of a huge text are counted; the first are listed."""
    found = mapped(tmp_path, "\n" * (200 * MAX_CHUNKS + 1), "a.log")

    assert len(found["chunks"]) == MAX_CHUNKS
    assert found["chunk_count"] == MAX_CHUNKS + 1
