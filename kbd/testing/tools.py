"""Tool context over a folder, and the contract check of tools, for authors of tools.

    workbench = Workbench(tmp_path, [CsvHandler()])
    workbench.add("sales.csv", "region,amount")
    result = await workbench.call(TableQuery(), path="sales.csv", query="SELECT count(*) FROM data")

What runs in a worker there runs here in this process, after the same round trip through msgpack, so
an argument or an answer that could not cross is found. Its search is `kbd.testing.plain_search`.
"""

import hashlib
import itertools
import mimetypes
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, Union

import msgpack
import msgspec

from kbd.arguments import record_of
from kbd.errors import NotFound, SandboxViolation, ToolWorkerUnavailable, ValidationFailed
from kbd.formats import (
    Applied,
    AssetPick,
    Comparable,
    CompareOptions,
    Comparison,
    Editable,
    FormatHandler,
    LaidOut,
    LayoutPart,
    Mappable,
    PageLayout,
    Placement,
    Preview,
    Previewable,
    Printable,
    Printed,
    Readable,
    ReadAs,
    Reading,
    Region,
    SheetRows,
    Source,
    Styled,
    Table,
    TableReading,
    Tabular,
    Written,
    WrittenTables,
)
from kbd.testing.formats import calculate_open
from kbd.testing.plain_search import PlainSearch
from kbd.tools import CallLimits, FileRef, Moment, Tool, ToolResult
from kbd.types import BlobHash, Effect, FileName, FocusHint

__all__ = ["Workbench", "check_tool"]


class _Files:
    """`kbd.tools.Files` over a folder: blobs, staged files and a cache beside each other."""

    def __init__(self, root: Path, catalog: "_Catalog") -> None:
        self._catalog = catalog
        self._folders = {kind: root / kind for kind in ("blobs", "stage", "cache")}
        for folder in self._folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        self._files: dict[FileName, FileRef] = {}
        self._first: dict[FileName, FileRef] = {}
        self._staged: dict[FileName, tuple[Path, tuple[str, ...]]] = {}
        self._paths: list[Path] = []
        self._counter = itertools.count()

    def names(self) -> Sequence[FileName]:
        return sorted(self._files)

    def find(self, path: str) -> FileRef | None:
        return self._files.get(_legal(path))

    def get(self, path: str) -> FileRef:
        name = _legal(path)
        if name not in self._files:
            near = get_close_matches(name, self._files, n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise NotFound(f"there is no file {name}{hint}")
        return self._files[name]

    def moments(self) -> Sequence[Moment]:
        return ("draft",)

    def before(self, path: str, moment: Moment) -> FileRef | None:
        assert moment == "draft", "a folder has no items"
        return self._first.get(_legal(path))

    def new(self, path: str) -> FileName:
        name = _legal(path)
        if name.casefold() in (other.casefold() for other in self._files):
            raise ValidationFailed(f"{name} exists already")
        return name

    def describe(self, file: FileRef) -> dict[str, Any]:
        handler = self._catalog.for_name(file.name)
        mime_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        described: dict[str, Any] = {
            "path": file.name,
            "kind": handler.kind if handler else "binary",
            "size_bytes": file.size_bytes,
            "mime_type": mime_type,
            "is_opaque": handler is None,
        }
        if handler is None:
            described["reason"] = "no installed format reads it"
        return described

    def stage(self, suffix: str = "") -> Path:
        path = self._folders["stage"] / f"{next(self._counter)}{suffix}"
        self._paths.append(path)
        return path

    def cached(self, key: str) -> Path:
        return self._folders["cache"] / key

    def put(
        self,
        name: FileName,
        staged: Path,
        *,
        external: Sequence[str] = (),
        remaining: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        focus: FocusHint | None = None,
    ) -> None:
        del notes, focus
        before = self._files.get(name)
        known = before.external if before else ()
        if remaining is not None:
            known = tuple(each for each in known if each in remaining)
        self._staged[name] = staged, tuple(dict.fromkeys((*known, *external)))

    def add(self, name: FileName, data: bytes, read_as: ReadAs) -> FileRef:
        """Make bytes a file of that name; from here on it is compared with them."""
        added = msgspec.structs.replace(self.store(name, data), read_as=read_as)
        self._first[name] = self._files[name] = added
        return added

    def store(self, name: FileName, data: bytes, external: tuple[str, ...] = ()) -> FileRef:
        """Make bytes a blob and a file of that name."""
        blob = BlobHash(hashlib.sha256(data).hexdigest())
        path = self._folders["blobs"] / blob
        path.write_bytes(data)
        self._files[name] = FileRef(name, blob, len(data), path, external)
        return self._files[name]

    def written(self) -> dict[FileName, tuple[Path, tuple[str, ...]]]:
        """Return what was put and is not settled, for `restore`."""
        return dict(self._staged)

    def restore(self, written: dict[FileName, tuple[Path, tuple[str, ...]]]) -> None:
        """Take back what was put since `written` was asked for."""
        self._staged = dict(written)

    def settle(self) -> None:
        """Make what was put the current files, for the call that goes on."""
        for name, (staged, external) in self._staged.items():
            self.store(name, staged.read_bytes(), external)
        self._staged.clear()

    def land(self) -> None:
        """Make what was put the current files, as the draft does when a call succeeds."""
        self.settle()
        self.drop()

    def current(self) -> dict[FileName, FileRef]:
        """Return the current files, for `revert`."""
        return dict(self._files)

    def revert(self, files: dict[FileName, FileRef]) -> None:
        """Make files the current ones again, as happens when a call fails."""
        self._files = dict(files)
        self.drop()

    def drop(self) -> None:
        """Forget what was put and remove what was staged, as happens when a call ends."""
        self._staged.clear()
        while self._paths:
            self._paths.pop().unlink(missing_ok=True)


class _Catalog:
    """`kbd.tools.FormatCatalog` over the handlers given."""

    def __init__(self, handlers: Iterable[FormatHandler]) -> None:
        self._handlers = sorted(handlers, key=lambda handler: handler.name)

    def handlers(self) -> Sequence[FormatHandler]:
        return self._handlers

    def for_name(self, name: str) -> FormatHandler | None:
        lower = PurePosixPath(name).name.lower()
        keys = (lower, PurePosixPath(lower).suffix)
        found = (h for h in self._handlers if any(key in h.suffixes for key in keys if key))
        return next(found, None)


class _Formats(_Catalog):
    """`kbd.tools.Formats`: handlers called here, in this process.

    Attributes:
        printer: What stands for the program that prints documents, which writes to the path that it
            is given; None for a machine without one.
    """

    printer: Callable[[FileRef, Path], Printed] | None = None

    async def info(self, file: FileRef) -> dict[str, Any]:
        handler = self.for_name(file.name)
        return handler.info(_source(file)) if handler else {}

    async def map(self, file: FileRef) -> dict[str, Any]:
        handler = self.for_name(file.name)
        if not isinstance(handler, Mappable):
            raise ValidationFailed(f"{file.name} has no map")
        found = _crossed(handler.map(_source(file)))
        assert isinstance(found, dict)
        return found

    async def read(self, file: FileRef, region: Region) -> Reading:
        handler = self.for_name(file.name)
        if not isinstance(handler, Readable):
            raise ValidationFailed(f"{file.name} cannot be read")
        return handler.read(_source(file), region)

    async def layout(self, file: FileRef, region: Region, show: LayoutPart) -> PageLayout:
        handler = self.for_name(file.name)
        if not isinstance(handler, LaidOut):
            raise ValidationFailed(f"{file.name} has no pages with places")
        return handler.layout(_source(file), region, show)

    async def compare(
        self, before: FileRef | None, after: FileRef | None, options: CompareOptions
    ) -> Comparison:
        file = after or before
        assert file is not None
        handler = self.for_name(file.name)
        if not isinstance(handler, Comparable):
            raise ValidationFailed(f"{file.name} cannot be compared")
        versions = [_source(each) if each else None for each in (before, after)]
        return handler.compare(*versions, options)

    async def apply(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        operations: Sequence[Mapping[str, Any]],
        target: Path,
        files: Mapping[str, FileRef] | None = None,
    ) -> Applied:
        if not isinstance(handler, Editable):
            raise ValidationFailed(f"{handler.name} cannot be edited")
        vocabulary = list[Union[handler.operations]]  # type: ignore[name-defined]  # noqa: UP007 - a union made at run time
        records = record_of(list(operations), vocabulary, "operations")
        start, plain = _source(source) if source else None, tuple(records)
        if files:
            others = {path: _source(file) for path, file in files.items()}
            applied = handler.apply_with_files(start, plain, target, others)
        else:
            applied = handler.apply(start, plain, target)
        found = calculate_open(handler, Source(target, target.name), applied)
        return msgspec.structs.replace(
            applied, results=found.results, result_warnings=found.warnings
        )

    async def preview(self, file: FileRef, index: int, edge_px: int) -> Preview:
        handler = self.for_name(file.name)
        if not isinstance(handler, Previewable):
            raise ValidationFailed(f"{file.name} cannot be shown as a picture")
        return handler.preview(_source(file), index, edge_px)

    async def print(self, file: FileRef, target: Path) -> Printed:
        handler = self.for_name(file.name)
        if not isinstance(handler, Printable):
            raise ValidationFailed(f"{file.name} cannot be printed")
        if self.printer is None:
            msg = "no office program is there to print the document; set Workbench.formats.printer"
            raise ToolWorkerUnavailable(msg, retryable=False)
        return self.printer(file, target)

    async def get_styles(self, file: FileRef, sheet: str | None) -> dict[str, Any]:
        handler = self.for_name(file.name)
        if not isinstance(handler, Styled):
            raise ValidationFailed(f"{file.name} cannot tell its styles")
        found = _crossed(handler.get_styles(_source(file), sheet))
        assert isinstance(found, dict)
        return found

    async def copy_assets(
        self, source: FileRef, into: FileRef | None, picks: Sequence[AssetPick], target: Path
    ) -> Applied:
        handler = self.for_name(source.name)
        if not isinstance(handler, Styled):
            raise ValidationFailed(f"{source.name} cannot give styles or media")
        getter = _source(into) if into else None
        return handler.copy_assets(_source(source), getter, tuple(picks), target)

    async def read_table(
        self, file: FileRef, sheet: str | None, read_as: ReadAs, target: Path
    ) -> Table:
        handler = self.for_name(file.name)
        if not isinstance(handler, Tabular):
            raise ValidationFailed(f"{file.name} is not a table")
        return handler.read_table(_source(file), sheet, read_as, target)

    async def write_table(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        rows: Path,
        placement: Placement,
        target: Path,
    ) -> Written:
        if not isinstance(handler, Tabular):
            raise ValidationFailed(f"{handler.name} files are not tables")
        getter = _source(source) if source else None
        written = handler.write_table(getter, rows, placement, target)
        found = calculate_open(handler, Source(target, target.name), written)
        return msgspec.structs.replace(
            written, results=found.results, result_warnings=found.warnings
        )

    async def write_tables(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        sheets: Sequence[SheetRows],
        target: Path,
    ) -> WrittenTables:
        if not isinstance(handler, Tabular):
            raise ValidationFailed(f"{handler.name} files are not tables")
        getter = _source(source) if source else None
        written = handler.write_tables(getter, tuple(sheets), target)
        found = calculate_open(handler, Source(target, target.name), written)
        return msgspec.structs.replace(
            written, results=found.results, result_warnings=found.warnings
        )


class _Recall:
    """`kbd.tools.Recall` over the results of this workbench's calls."""

    def __init__(self) -> None:
        self.results: list[bytes] = []

    async def result(self, entry_id: int) -> bytes:
        if not 1 <= entry_id <= len(self.results):
            raise NotFound(f"there is no call with entry id {entry_id}")
        return self.results[entry_id - 1]


class Workbench:
    """`ToolContext` over a folder, for tests of tools.

    Args:
        root: An empty folder.
        handlers: The formats to offer.

    Attributes:
        tools: By name the tools that tools may call as a part of their own calls; none at first.
        limits: The limits that the last `isolate` call asked for, or None.
        readings: How tables were read, by file and sheet, as tools have noted it.
        program: Where the program is that tools start; None for a machine without it.
        now_us: The time of the calls in microseconds since 1970 UTC; set it as a test needs it.
    """

    def __init__(self, root: Path, handlers: Iterable[FormatHandler] = ()) -> None:
        self._formats = _Formats(handlers)
        self._is_step = False
        self.tools: dict[str, Tool] = {}
        self._files = _Files(root, self._formats)
        self._recall = _Recall()
        self.limits: CallLimits | None = None
        self.program: str | None = None
        self.readings: dict[tuple[FileName, str | None], TableReading] = {}
        self.now_us = 1_763_750_000_000_000

    @property
    def files(self) -> _Files:
        """The workbench's files."""
        return self._files

    @property
    def formats(self) -> _Formats:
        """The formats."""
        return self._formats

    @property
    def recall(self) -> _Recall:
        """The results of `call`, entry ids counted from 1."""
        return self._recall

    @property
    def search(self) -> PlainSearch:
        """The files, searched by counting words."""
        return PlainSearch(self._files, self._formats)

    def add(self, name: str, data: bytes | str, read_as: ReadAs | None = None) -> FileRef:
        """Add a file, or replace it; text is written as UTF-8, `read_as` is what was said of it."""
        data = data.encode() if isinstance(data, str) else data
        return self._files.add(_legal(name), data, read_as or ReadAs())

    def content(self, name: str) -> bytes:
        """Return the bytes of a file as it is now."""
        return self._files.get(name).path.read_bytes()

    def note_reading(
        self,
        file: FileRef,
        sheet: str | None,
        reading: TableReading,
        *,
        columns: Mapping[str, str],
        row_count: int,
    ) -> None:
        """Keep how a table was read."""
        del columns, row_count
        self.readings[file.name, sheet] = reading

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Call a function here, its arguments and answer packed and unpacked on the way.

        With a program it is given `program`, the path of the one that this bench was told.
        """
        self.limits = limits
        given = dict(arguments)
        if with_program:
            if self.program is None:
                raise ToolWorkerUnavailable("the program is not installed", retryable=False)
            given["program"] = self.program
        return _crossed(function(**_crossed(given)))

    async def call(self, tool: Tool, **arguments: Any) -> ToolResult:
        """Call a tool as the agent does: validate, run, let what it put land, keep the result.

        Raises:
            ValidationFailed: The arguments do not fit the tool's record.
            KbdError: What the tool raised; nothing landed.
        """
        record, before = record_of(arguments, tool.arguments), self._files.current()
        try:
            result = await tool.run(self, record)
        except BaseException:
            self._files.revert(before)
            raise
        self._files.land()
        self._recall.results.append(msgspec.json.encode(result.value))
        return result

    async def call_tool(
        self, tool: str, arguments: Mapping[str, Any], *, job: str = ""
    ) -> ToolResult:
        """Call one of the tools as a part of a call; see `ToolContext.call_tool`."""
        del job
        if tool not in self.tools:
            raise NotFound(f"there is no tool {tool}")
        if self._is_step:
            raise ValidationFailed(f"a step of a call cannot call {tool}")
        called = self.tools[tool]
        record, before = record_of(arguments, called.arguments), self._files.written()
        self._is_step = True
        try:
            result = await called.run(self, record)
        except BaseException:
            self._files.restore(before)
            raise
        finally:
            self._is_step = False
        self._files.settle()
        return result


def check_tool(tool: Tool) -> None:
    """Check what every tool must keep to.

    Raises:
        AssertionError: A promise of `kbd.tools.Tool` is broken; the message says which.
    """
    assert tool.name.isidentifier(), f"{tool.name!r} is not a name that servers accept"
    assert len(tool.name) <= 64, f"{tool.name}: servers accept names of 64 characters"
    assert tool.description.strip(), f"{tool.name} has no description"
    assert tool.effect in Effect, f"{tool.name} has no effect"
    assert tool.arguments.__struct_config__.frozen, f"{tool.name}: its arguments can be changed"
    schema = _object_schema(tool)
    assert schema.get("additionalProperties") is False, f"{tool.name} accepts unknown arguments"
    assert set(schema.get("required", ())) <= set(schema["properties"]), "required is unknown"
    for field, shape in schema["properties"].items():
        assert shape.get("description"), f"{tool.name}: {field} has no description"


def _object_schema(tool: Tool) -> dict[str, Any]:
    """Return the schema of a tool's arguments, which is of an object."""
    (schema,), parts = msgspec.json.schema_components([tool.arguments])
    found: dict[str, Any] = parts[schema["$ref"].rpartition("/")[2]]
    assert found["type"] == "object", f"{tool.name}: its schema is not of an object"
    return found


def _legal(path: str) -> FileName:
    """Return the name that a path means, by the contract's rules for paths.

    Raises:
        SandboxViolation: It is absolute, climbs, or names something reserved.
    """
    parts = PurePosixPath(unicodedata.normalize("NFC", path)).parts
    if len(parts) > 1 and parts[0] in ("draft", "published"):
        parts = parts[1:]
    if not parts or "\0" in path or parts[0] in ("/", "meta") or ".." in parts:
        raise SandboxViolation(f"{path!r} is not the name of a file in the workbench")
    return FileName("/".join(parts))


def _source(file: FileRef) -> Source:
    """Return a file as handlers see it."""
    return Source(path=file.path, name=file.name, external=file.external)


def _crossed(value: Any) -> Any:
    """Return a value as it arrives on the other side of a process boundary."""
    packed = msgpack.packb(value, default=_plain)
    return msgpack.unpackb(packed, strict_map_key=False)


def _plain(value: Any) -> Any:
    """Say how values that msgpack does not know are sent: paths as text, nothing else."""
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be sent to a worker")
