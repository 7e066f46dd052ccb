"""Rows into a delimited file: a new one, or more rows at the end of one.

Numbers keep their text form; text that looks like a formula is text, as everything here is.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Placement, Source, Written
from kbd_csv.dialect import suffix_delimiter
from kbd_csv.rows import PlainWriter, RowReader
from kbd_csv.tables import column_names, look

__all__ = ["write_table"]


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows into `target`, whose suffix says what delimits a new file.

    Raises:
        ValidationFailed: The mode needs sheets, or rows to append do not fit the file.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    match placement.mode:
        case "append_rows" if source is not None:
            return _append(source, rows, target)
        case "new_file" | "append_rows":
            return _write_new(rows, placement, target)
        case _:
            raise ValidationFailed(
                f"{placement.mode} is for workbooks; a text table takes new_file or append_rows."
            )


def _stream(rows: Path) -> Iterator[list[Any]]:
    """Yield what the stream holds: first the columns, then the rows."""
    with rows.open("rb") as file:
        yield from msgpack.Unpacker(file, raw=False, strict_map_key=False)


def _columns(stream: Iterator[list[Any]]) -> list[str]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("The stream of rows is empty; it begins with its columns.")
    return [str(name) for name, *_ in first]


def _text(value: Any) -> Any:
    """Return a value's field: true and false in lower case, no value as nothing."""
    if value is True:
        return "true"
    return "false" if value is False else value


def _write_new(rows: Path, placement: Placement, target: Path) -> Written:
    stream = _stream(rows)
    names = _columns(stream)
    with PlainWriter(target, delimiter=suffix_delimiter(target.name)) as writer:
        if placement.include_header:
            writer.write_header(names)
        return Written("", _write_rows(writer, stream), len(names))


def _write_rows(writer: PlainWriter, stream: Iterator[list[Any]]) -> int:
    count = 0
    for row in stream:
        writer.write([_text(value) for value in row])
        count += 1
    return count


def _append(source: Source, rows: Path, target: Path) -> Written:
    """Copy the source and add rows at its end, in its own dialect and encoding."""
    stream = _stream(rows)
    names = _columns(stream)
    shape = look(source)
    there = column_names(shape.header, shape.width)
    if there and len(names) != len(there):
        raise ValidationFailed(
            f"{source.name} has {len(there)} columns and the rows have {len(names)}."
        )
    shutil.copyfile(source.path, target)
    encoding = _appending_codec(shape.encoding.name, source.path)
    line_end = _finish_last_line(source, target, encoding)
    try:
        with PlainWriter(
            target,
            delimiter=shape.dialect.delimiter,
            encoding=encoding,
            line_end=line_end,
            append=True,
        ) as writer:
            if not there:
                writer.write_header(names)
            count = _write_rows(writer, stream)
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            f"{source.name} is {encoding}, which has no character {error.object[error.start]!r}."
        ) from error
    return Written("", count, len(names), _header_notes(shape.header, names))


def _header_notes(header: list[str] | None, names: list[str]) -> tuple[str, ...]:
    if header is None:
        return ()
    given = [name.strip().casefold() for name in header[: len(names)]]
    if given == [name.strip().casefold() for name in names]:
        return ("There is a header already: it was not written again.",)
    return (f"The rows' columns ({', '.join(names)}) are not named as the header of the file is.",)


def _appending_codec(name: str, path: Path) -> str:
    """Name the codec that goes on in a file without writing a byte order mark again."""
    if name == "utf-8-sig":
        return "utf-8"
    if name in ("utf-16", "utf-32"):
        with path.open("rb") as file:
            return f"{name}-le" if file.read(1) == b"\xff" else f"{name}-be"
    return name


def _finish_last_line(source: Source, target: Path, encoding: str) -> str:
    """End the last line if it is not, and return how the file ends its lines."""
    sample = RowReader(source).first_line()
    line_end = "\r\n" if sample.endswith("\r\n") else "\n"
    size = target.stat().st_size
    mark = "\n".encode(encoding)
    with target.open("r+b") as file:
        file.seek(max(0, size - len(mark)))
        if size and file.read() not in (mark, "\r".encode(encoding)):
            file.seek(0, 2)
            file.write(line_end.encode(encoding))
    return line_end
