"""Plain text: encodings, maps, line ranges, and what is refused."""

from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Reading, Region, Source
from kbd.plaintext import detect
from kbd.plaintext.lines import MAX_READ_CHARS
from kbd_text.handler import TextFormat

FORMAT = TextFormat()


def source(tmp_path: Path, data: bytes | str, name: str = "a.txt") -> Source:
    path = tmp_path / "blob"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return Source(path, name)


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


@pytest.mark.parametrize(
    ("text", "codec", "expected"),
    [
        ("naïve café\n", "utf-8", "utf-8"),
        ("naïve café\n", "utf-8-sig", "utf-8-sig"),
        ("naïve café\n", "utf-16", "utf-16"),
        ("plain words\n", "utf-16-le", "utf-16-le"),
        ("plain words\n", "utf-16-be", "utf-16-be"),
        ("“naïve” – café, 5 €\n", "cp1252", "cp1252"),
        ("José vive en Málaga\n", "latin-1", "cp1252"),
        ("Это обычный текст на русском языке.\n" * 3, "cp1251", "cp1251"),
        ("日本語のテキストです。こんにちは世界\n" * 3, "shift_jis", "cp932"),
        ("这是一个中文文本，用来测试编码检测\n" * 3, "gb18030", "gb18030"),
    ],
)
def test_encodings(tmp_path: Path, text: str, codec: str, expected: str) -> None:
    """Text is read as it was written, whatever its encoding; the name is as Python has it."""
    found = source(tmp_path, text.encode(codec))

    assert (expected, text) == (detect(found.path).name, FORMAT.read(found, Region()).text)


def test_stray_bytes_in_utf8_are_kept_and_told(tmp_path: Path) -> None:
    """A cp1252 byte inside UTF-8 is read as its letter, with low confidence and a warning."""
    found = source(tmp_path, "größe naïve über\n".encode() + b"caf\xe9\n")

    reading = FORMAT.read(found, Region())

    assert reading.text == "größe naïve über\ncafé\n"
    assert "not valid UTF-8" in reading.warnings[0]
    mapped = FORMAT.map(found)
    assert (mapped["encoding_confidence"], mapped["encoding_reason"]) == (
        0.5,
        "mostly valid UTF-8",
    )


def test_low_confidence_is_a_warning(tmp_path: Path) -> None:
    """Bytes that no western text has are a guess, and the reader is told so, with a word of it."""
    reading = FORMAT.read(source(tmp_path, b"a\x81b \xe9\n"), Region())

    assert "is a guess: read as cp850: Ú; as " in reading.warnings[0]


def test_map_has_lines_and_chunks(tmp_path: Path) -> None:
    """A map counts lines and characters and lists chunks of 200 lines."""
    found = FORMAT.map(source(tmp_path, numbered(350)[:-1]))

    assert (350, len(numbered(350)) - 1) == (found["line_count"], found["char_count"])
    assert found["chunks"] == [{"index": 0, "lines": "1-200"}, {"index": 1, "lines": "201-350"}]


def test_json_hints(tmp_path: Path) -> None:
    """JSON adds its top level and keys; what is no JSON says so."""
    an_object = FORMAT.map(source(tmp_path, '{"b": 1, "a": []}', "a.json"))
    an_array = FORMAT.map(source(tmp_path, '[{"id": 1}, {"id": 2}]', "a.json"))
    broken = FORMAT.map(source(tmp_path, "[" * 5000, "a.json"))

    assert (an_object["top_level"], an_object["keys"]) == ("object", ["b", "a"])
    assert tuple(an_array[k] for k in ("top_level", "item_count", "keys")) == ("array", 2, ["id"])
    assert "json_error" in broken


def test_lines_are_read_by_number(tmp_path: Path) -> None:
    """line_start is 1-based, and chunk_info tells where the lines stand."""
    found = source(tmp_path, numbered(450))

    reading = FORMAT.read(found, Region(line_start=201, line_count=2))
    info = reading.chunk_info

    assert reading.text == "line 201\nline 202\n"
    assert info is not None
    assert (
        info.chunk_index, info.total_chunks, info.has_more, info.range,
    ) == (1, 3, True, "201-202")  # fmt: skip


def test_a_long_file_gives_its_first_chunk(tmp_path: Path) -> None:
    """Without coordinates a long file gives 200 lines, a short one all of it."""
    first = FORMAT.read(source(tmp_path, numbered(201)), Region())
    whole = FORMAT.read(source(tmp_path, numbered(200)), Region())

    assert (numbered(200), True) == (first.text, first.chunk_info and first.chunk_info.has_more)
    assert Reading(numbered(200)) == whole


def test_line_ends_are_one_kind(tmp_path: Path) -> None:
    """CR LF, CR and LF all end a line."""
    reading = FORMAT.read(source(tmp_path, "a\r\nb\rc\n"), Region(line_start=2, line_count=2))

    assert reading.text == "b\nc\n"


@pytest.mark.parametrize(
    "region",
    [
        Region(line_start=4),
        Region(line_start=0),
        Region(line_count=0),
        Region(sheet="S"),
        Region(pages="1"),
    ],
)
def test_wrong_coordinates_are_refused(tmp_path: Path, region: Region) -> None:
    """Lines that are not there and coordinates of other formats are VALIDATION_FAILED."""
    with pytest.raises(ValidationFailed):
        FORMAT.read(source(tmp_path, numbered(3)), region)


def test_binary_is_refused(tmp_path: Path) -> None:
    """A file with zero bytes is not text, and the message says so."""
    found = source(tmp_path, b"PK\x03\x04\x00\x00abc" * 50)

    for ask in (FORMAT.map, lambda s: FORMAT.read(s, Region()), lambda s: list(FORMAT.passages(s))):
        with pytest.raises(FileReadFailed, match="binary"):
            ask(found)


def test_an_endless_line_is_cut_with_a_warning(tmp_path: Path) -> None:
    """One line of millions of characters gives what one reading holds, and says so."""
    found = source(tmp_path, "x" * (3 * MAX_READ_CHARS) + "\nend\n")

    reading = FORMAT.read(found, Region())

    assert len(reading.text) == MAX_READ_CHARS
    assert "too long" in reading.warnings[0]
    assert reading.chunk_info is not None
    assert reading.chunk_info.has_more
    assert FORMAT.read(found, Region(line_start=2)).text == "end\n"
    assert sum(len(p.text) for p in FORMAT.passages(found)) == 3 * MAX_READ_CHARS + 5


def test_many_long_lines_stop_at_a_line(tmp_path: Path) -> None:
    """A reading that is full ends with a whole line and says where to go on."""
    found = source(tmp_path, ("y" * 1999 + "\n") * 150)

    reading = FORMAT.read(found, Region())

    assert reading.text.count("\n") == 100
    assert "line_start 101" in reading.warnings[-1]


def test_passages_name_their_lines(tmp_path: Path) -> None:
    """Passages are the chunks of the map, in order and complete."""
    passages = list(FORMAT.passages(source(tmp_path, numbered(201))))

    assert [passage.place for passage in passages] == ["lines 1-200", "line 201"]
    assert numbered(201) == "".join(passage.text for passage in passages)
