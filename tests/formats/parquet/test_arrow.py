"""Arrow files as tables: file and stream, compressed or not, every type, and what is refused."""

import csv
import datetime as dt
import decimal
import random
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import ReadAs, Source
from kbd.testing.formats import check_format
from kbd.testing.tools import Workbench
from kbd_parquet import ArrowFormat
from kbd_tables import kbd_register_tools

FORMAT = ArrowFormat()
MOMENT = dt.datetime(2024, 1, 31, 10, 0, 0, 500_000, tzinfo=dt.UTC)
FORMS = [
    (".arrow", None), (".arrow", "lz4"), (".feather", "zstd"), (".arrows", None), (".ipc", "lz4"),
]  # fmt: skip


def typed() -> pa.Table:
    """Two rows with a column of each type; the second row is of nulls."""
    columns: dict[str, tuple[Any, pa.DataType]] = {
        "big": (2**64 - 1, pa.uint64()),
        "price": (decimal.Decimal("12.50"), pa.decimal128(9, 2)),
        "wide": (decimal.Decimal("1.5"), pa.decimal256(60, 1)),
        "half": (0.5, pa.float16()),
        "ok": (True, pa.bool_()),
        "day": (dt.date(2024, 1, 31), pa.date32()),
        "at": (MOMENT.replace(tzinfo=None), pa.timestamp("us")),
        "zoned": (MOMENT, pa.timestamp("ms", "Asia/Tokyo")),
        "time": (dt.time(10, 30), pa.time64("us")),
        "list": ([1, 2], pa.list_(pa.int64())),
        "record": ({"a": 1}, pa.struct({"a": pa.int64()})),
        "bytes": (b"\x01\xff", pa.binary()),
        "view": ('a,"b\r\nc and more than twelve', pa.string_view()),
        "bytes view": (b"\x02", pa.binary_view()),
        "large": ("007", pa.large_string()),
        "nothing": (None, pa.null()),
        "halves": ([0.5], pa.list_(pa.float16())),
        "deep": ({"a": [decimal.Decimal(3)]}, pa.struct({"a": pa.list_(pa.decimal256(50))})),
    }
    found = {name: pa.array([value, None], kind) for name, (value, kind) in columns.items()}
    found["word"] = pa.array(["x", None]).dictionary_encode()
    # Its words as polars writes those of categories.
    words = pa.array(["y" * 20, "z"], pa.string_view())
    found["category"] = pa.DictionaryArray.from_arrays(pa.array([1, None], pa.uint32()), words)
    found["runs"] = pa.RunEndEncodedArray.from_arrays([2], ["y"])
    return pa.table(found)


def arrow(table: pa.Table, suffix: str = ".arrow", compression: str | None = None) -> bytes:
    """Return what pyarrow writes of a table: a stream for `.arrows` and `.ipc`, else a file."""
    sink = pa.BufferOutputStream()
    write = ipc.new_stream if suffix in (".arrows", ".ipc") else ipc.new_file
    options = ipc.IpcWriteOptions(compression=compression)
    with write(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1_000)
    return bytes(sink.getvalue())


def plain(folder: Path, data: bytes, name: str = "t.arrow") -> tuple[Any, list[list[str]]]:
    """Read a table: what is told, and its lines."""
    path = folder / name
    path.write_bytes(data)
    found = FORMAT.read_table(Source(path, name), None, ReadAs(), folder / "plain")
    with (folder / "plain").open(encoding="utf-8", newline="") as file:
        return found, list(csv.reader(file))


@pytest.mark.parametrize(("suffix", "compression"), FORMS)
def test_values_keep_their_types(tmp_path: Path, suffix: str, compression: str | None) -> None:
    """Whole numbers past int64 and decimals are exact, zones told in UTC, texts stay texts."""
    found, lines = plain(tmp_path, arrow(typed(), suffix, compression), f"t{suffix}")
    kinds = {column.name: column.type for column in found.columns}
    told = dict(zip(lines[0], zip(lines[1], kinds.values(), strict=True), strict=True))
    assert told == {
        "big": ("18446744073709551615", "integer"), "price": ("12.50", "float"),
        "wide": ("1.5", "string"), "half": ("0.5", "float"), "ok": ("true", "boolean"),
        "day": ("2024-01-31", "date"), "at": ("2024-01-31 10:00:00.5", "datetime"),
        "zoned": ("2024-01-31 10:00:00.5", "datetime"), "time": ("10:30:00", "string"),
        "list": ("[1,2]", "string"), "record": ('{"a":1}', "string"), "bytes": ("01FF", "string"),
        "view": ('a,"b\r\nc and more than twelve', "string"), "bytes view": ("02", "string"),
        "large": ("007", "string"), "nothing": ("", "string"), "halves": ("[0.5]", "string"),
        "deep": ('{"a":["3"]}', "string"), "word": ("x", "string"), "category": ("z", "string"),
        "runs": ("y", "string"),
    }  # fmt: skip
    assert lines[2] == [*[""] * 20, "y"]
    assert found.row_count == 2


@pytest.mark.anyio
@pytest.mark.full
async def test_every_row_of_every_batch_in_order(tmp_path: Path) -> None:
    """The table tools see all batches; what is no number is empty, and told."""
    table = pa.table({"i": pa.array(range(5_000)), "q": pa.array([float("nan"), *[0.5] * 4_999])})
    workbench = Workbench(tmp_path / "workbench", [FORMAT])
    workbench.add("t.arrow", arrow(table, compression="zstd"))
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    query = 'SELECT count(*), sum(i), sum(q), max(i) FROM "t.arrow"'
    found = (await workbench.call(tools["table_query"], path="t.arrow", query=query)).value
    assert found["rows"] == [[5_000, 12_497_500, 2_499.5, 4_999]]
    assert "1 value(s) of q are NaN or infinite: they are empty here" in found["warnings"]


def test_a_stream_without_its_end_is_told(tmp_path: Path) -> None:
    """One that was cut between two batches has fewer rows, and looks whole but for its end."""
    data = arrow(pa.table({"a": list(range(2_500))}), ".arrows")
    whole = plain(tmp_path, data, "t.arrows")[0]
    assert (whole.row_count, whole.warnings) == (2_500, ())
    last = data.rindex(b"\xff\xff\xff\xff", 0, len(data) - 8)
    cut = plain(tmp_path, data[:last], "t.arrows")[0]
    assert cut.row_count == 2_000
    assert cut.warnings == ("The stream has no mark at its end: rows may be missing.",)


def test_the_map_and_names_that_are_alike(tmp_path: Path) -> None:
    """Columns of one name are told apart."""
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "A ", ""])
    path = tmp_path / "blob"
    path.write_bytes(arrow(table))
    found = FORMAT.map(Source(path, "t.arrow"))
    assert [column["name"] for column in found["columns"]] == ["a", "A_2", "column_3"]
    assert (found["row_count"], found["total_chunks"]) == (1, 1)
    assert plain(tmp_path, arrow(table))[1][1] == ["1", "2", "3"]
    assert plain(tmp_path, arrow(table.slice(0, 0)))[0].row_count == 0


@pytest.mark.full
def test_it_keeps_the_promises_of_formats(tmp_path: Path) -> None:
    """Damaged files are refused by name, and reading changes nothing."""
    small = pa.table({"a": [1, 2], "b": ["x", None]})
    samples: dict[str, bytes] = {"t.arrow": arrow(small), "s.arrows": arrow(small, ".arrows")}
    check_format(FORMAT, samples, tmp=tmp_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"ARROW1", b"ARROW1\0\0", b"FEA1 and more", b"\xff\xff\xff\xff\xff\xff\xff\x7f",
     b"a,b\n1,2\n", b"\xff\xff\xff\xff\x08\0\0\0" + b"\xff" * 8],
    ids=["nothing", "magic", "head", "old", "endless", "text", "noise"],
)  # fmt: skip
def test_what_is_no_arrow_file_is_refused(tmp_path: Path, data: bytes) -> None:
    """With a code, and without a path."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    with pytest.raises(FileReadFailed) as caught:
        FORMAT.map(Source(path, "t.arrow"))
    assert caught.value.code == "FILE_READ_FAILED"
    assert str(tmp_path) not in caught.value.message


def test_what_holds_no_columns_or_unknown_types_is_refused(tmp_path: Path) -> None:
    """By what it is, not as a damaged file."""
    with pytest.raises(FileReadFailed, match=r"^t\.arrow holds no table: it has no columns$"):
        plain(tmp_path, arrow(pa.table({})))
    runs = pa.RunEndEncodedArray.from_arrays([1], pa.array(["x"], pa.string_view()))
    with pytest.raises(FileReadFailed, match=r"^t\.arrow has values of a type that is not read: "):
        plain(tmp_path, arrow(pa.table({"runs": runs})))


def test_offsets_that_lead_out_of_a_batch_are_refused(tmp_path: Path) -> None:
    """Bytes of the memory must not come out as texts: each batch is checked before it is read."""
    data = arrow(pa.table({"t": pa.array(["abcd", "efgh"])}))
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 4, 8))
    assert data.count(offsets) == 1
    beyond = b"".join(n.to_bytes(4, "little") for n in (0, 1 << 20, 8))
    with pytest.raises(FileReadFailed, match="damaged"):
        plain(tmp_path, data.replace(offsets, beyond))


@pytest.mark.full
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever byte is another one, the answer is a table or an error with a code."""
    data = arrow(typed(), compression="lz4")
    chosen = random.Random(7)
    refused, messages = 0, list[str]()
    for _ in range(300):
        place = chosen.randrange(len(data))
        changed = bytes([*data[:place], chosen.randrange(256), *data[place + 1 :]])
        try:
            plain(tmp_path, changed)
        except KbdError as error:
            refused += 1
            messages.append(error.message)
    assert refused > 30
    assert not any(str(tmp_path) in message for message in messages)


def test_what_is_said_of_it_is_refused(tmp_path: Path) -> None:
    """The file says itself how it is read; it has no sheets and is not written."""
    path = tmp_path / "blob"
    path.write_bytes(arrow(pa.table({"a": [1]})))
    for sheet, said in (("S", ReadAs()), (None, ReadAs(header_row=2))):
        with pytest.raises(ValidationFailed):
            FORMAT.read_table(Source(path, "t.arrow"), sheet, said, tmp_path / "out")
    with pytest.raises(ValidationFailed, match="csv"):
        FORMAT.write_table(None, path, None, tmp_path / "out.arrow")  # type: ignore[arg-type]


def test_without_pyarrow_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra; a file that needs it is refused with the command that brings it."""
    path = tmp_path / "blob"
    path.write_bytes(arrow(pa.table({"a": [1]})))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileReadFailed, match=r'pip install "kbd\[arrow\]"'):
        FORMAT.map(Source(path, "t.arrow"))
