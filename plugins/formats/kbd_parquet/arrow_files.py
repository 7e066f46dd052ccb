"""Arrow files: the file and the stream of its IPC format, read a batch at a time by pyarrow.

pyarrow is an extra, and imported by the call that needs it: it starts a thread, which a process
that is forked must not have. Each batch is checked whole before anything reads it: offsets of a
damaged one lead anywhere in the memory.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_parquet.tables import ColumnScan, column_names, connected

__all__ = ["opened"]

_FILE = b"ARROW1"
_OLD_FEATHER = b"FEA1"
_CONTINUED = b"\xff" * 4
"""What messages begin with, but in the form before version 0.15."""
_MAX_MESSAGE = 120


@contextmanager
def opened(source: Source) -> Iterator[ColumnScan]:
    """Open a file.

    Raises:
        FileReadFailed: It is no Arrow file or a damaged one, what is done with it fails, or pyarrow
            is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra, with a thread
        import pyarrow.compute  # noqa: PLC0415 - an extra, with a thread
        import pyarrow.ipc  # noqa: PLC0415 - an extra, with a thread
    except ImportError:
        raise FileReadFailed(
            f"{source.name} is an Arrow file; what reads them is not installed: "
            'pip install "kbd[arrow]"'
        ) from None
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with connected(source) as connection, _arrow_errors(source.name, pa):
        yield _ArrowScan(source, pa, connection)


class _ArrowScan(ColumnScan):
    """Batches of a file, which are read anew for each statement, in the memory of one of them."""

    def __init__(self, source: Source, pa: Any, connection: duckdb.DuckDBPyConnection) -> None:
        self._source, self._pa, self._connection = source, pa, connection
        with source.path.open("rb") as file:
            head = file.read(len(_FILE))
        if not head:
            raise FileReadFailed(f"{source.name} is empty")
        if head.startswith(_OLD_FEATHER):
            raise FileReadFailed(
                f"{source.name} is a Feather file of version 1, which no program writes any more; "
                "write it again with a current one"
            )
        self._is_file = head == _FILE
        self._schema = self._plain_schema()
        if not len(self._schema):
            raise FileReadFailed(f"{source.name} holds no table: it has no columns")
        self._count = sum(int(batch.num_rows) for batch in self._batches(checks=True))

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        batches = self._batches(checks=False)
        reader = self._pa.RecordBatchReader.from_batches(self._schema, batches)
        self._connection.register("source", reader)
        return self._connection.execute(statement).fetchall()

    def row_count(self) -> int:
        return self._count

    def warnings(self) -> tuple[str, ...]:
        if self._is_file:
            return ()
        with self._source.path.open("rb") as file:
            begin = file.read(len(_CONTINUED))
            end = (_CONTINUED if begin == _CONTINUED else b"") + bytes(4)
            file.seek(-len(end), os.SEEK_END)
            if file.read() == end:
                return ()
        # A stream may end so; one that was cut between two batches looks the same.
        return ("The stream has no mark at its end: rows may be missing.",)

    def _plain_schema(self) -> Any:
        with self._pa.OSFile(str(self._source.path)) as file:
            schema = self._opened(file).schema
        # DuckDB would take two columns of one name for one.
        names = column_names(field.name for field in schema)
        return self._pa.schema(
            [
                self._pa.field(name, _plain_type(self._pa, field.type))
                for name, field in zip(names, schema, strict=True)
            ]
        )

    def _opened(self, file: Any) -> Any:
        return self._pa.ipc.open_file(file) if self._is_file else self._pa.ipc.open_stream(file)

    def _batches(self, *, checks: bool) -> Iterator[Any]:
        """Yield the batches in types that DuckDB knows, each checked before if that is wanted."""
        with self._pa.OSFile(str(self._source.path)) as file:
            reader = self._opened(file)
            found = (
                map(reader.get_batch, range(reader.num_record_batches)) if self._is_file else reader
            )
            for batch in found:
                if checks:
                    batch.validate(full=True)
                arrays = [
                    _plain_array(self._pa, column, field.type)
                    for column, field in zip(batch.columns, self._schema, strict=True)
                ]
                yield self._pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _plain_type(pa: Any, kind: Any) -> Any:
    """Return the type as which values of another one are read."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(pa, kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _plain_type(pa, kind.value_type)
    if types.is_null(kind) or types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if types.is_binary_view(kind) else _known_type(pa, kind)


def _known_type(pa: Any, kind: Any) -> Any:
    """Return a type that DuckDB knows for one that it does not, also inside of nested values."""
    types = pa.types
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal256(kind):
        return pa.large_string()
    if types.is_struct(kind):
        return pa.struct([field.with_type(_known_type(pa, field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_known_type(pa, kind.key_type), _known_type(pa, kind.item_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(_known_type(pa, kind.value_type), kind.list_size)
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(_known_type(pa, kind.value_type))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(_known_type(pa, kind.value_type))
    return kind


def _plain_array(pa: Any, values: Any, kind: Any) -> Any:
    if isinstance(values.type, pa.BaseExtensionType):
        return _plain_array(pa, values.storage, kind)
    if pa.types.is_run_end_encoded(values.type):
        return _plain_array(pa, pa.compute.run_end_decode(values), kind)
    if pa.types.is_dictionary(values.type):
        # The words first: texts as polars writes them cannot be picked from a dictionary.
        return _plain_array(pa, values.dictionary, kind).take(values.indices)
    return values if values.type == kind else values.cast(kind)


@contextmanager
def _arrow_errors(name: str, pa: Any) -> Iterator[None]:
    """Turn what damaged files raise in pyarrow into FileReadFailed, without paths."""
    try:
        yield
    except FileReadFailed:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError, KeyError, IndexError) as error:
        if isinstance(error, pa.ArrowMemoryError | MemoryError):
            raise FileReadFailed(f"{name} is too large to be read, or damaged") from None
        said = " ".join(str(error).split("\n")[0].split())[:_MAX_MESSAGE]
        told = "" if "/" in said else f": {said}"
        if isinstance(error, pa.ArrowNotImplementedError):
            raise FileReadFailed(f"{name} has values of a type that is not read{told}") from None
        raise FileReadFailed(f"{name} is no Arrow file, or a damaged one{told}") from None
