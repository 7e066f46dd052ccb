"""Interface of tools: `Tool`, what it may reach (`ToolContext`), what it returns (`ToolResult`).

A tool runs in the daemon's event loop, so it waits instead of working: parsing, editing and SQL
go to a worker, through `context.formats` (a format's handler) or `context.isolate` (the tool's own
work). A tool sees files by name only; `context.files` is the only way to their bytes. What it
writes is staged, and lands in the draft together with its result, or not at all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from kbd.formats import (
    Applied,
    AssetPick,
    CompareOptions,
    Comparison,
    FileQuestion,
    FormatHandler,
    LayoutPart,
    PageLayout,
    Placement,
    Preview,
    Printed,
    ReadAs,
    Reading,
    Region,
    SheetRows,
    Table,
    TableReading,
    Written,
    WrittenTables,
)
from kbd.search import Search
from kbd.types import BlobHash, Effect, FileName, FocusHint

__all__ = [
    "CallLimits",
    "FileRef",
    "Files",
    "FormatCatalog",
    "Formats",
    "Moment",
    "Recall",
    "Tool",
    "ToolContext",
    "ToolResult",
]


Moment = Literal["item", "draft"]
"""A moment to compare with: when the item that is being worked on began, or when the draft did."""


class FileRef(msgspec.Struct, frozen=True):
    """A file of the workbench as this call sees it: in the draft if changed there.

    Args:
        name: Its name.
        blob: The hash of its bytes.
        size_bytes: Its size.
        path: Where the bytes lie, read-only; for workers, never shown to a model.
        external: What it reaches out to because of the draft's edits. A new file that begins as a
            copy of it has that too: give it to `Files.put`.
        read_as: What a person or a rule said about how its tables are to be read.
    """

    name: FileName
    blob: BlobHash
    size_bytes: int
    path: Path
    external: tuple[str, ...] = ()
    read_as: ReadAs = ReadAs()


class CallLimits(msgspec.Struct, frozen=True):
    """What one worker call may use.

    Args:
        wall_s: Seconds until it is killed; past it the call fails with TOOL_TIMEOUT.
        cpu_s: Processor seconds (RLIMIT_CPU); past it TOOL_TIMEOUT.
        memory_bytes: Address space (RLIMIT_AS); past it TOOL_TIMEOUT.
        file_bytes: The largest file it may write (RLIMIT_FSIZE).
        result_bytes: The largest answer it may send.
    """

    wall_s: float = 30.0
    cpu_s: int = 30
    memory_bytes: int = 1536 * 1024 * 1024
    file_bytes: int = 1024 * 1024 * 1024
    result_bytes: int = 64 * 1024 * 1024


class Files(Protocol):
    """The files of one workbench, as one call sees them."""

    def names(self) -> Sequence[FileName]:
        """Return the names of all files, sorted."""

    def find(self, path: str) -> FileRef | None:
        """Return the file that a path means, or None if there is none.

        A leading `draft/` or `published/` is accepted and means the same file.

        Raises:
            SandboxViolation: The path would leave the workbench or is not a legal name.
        """

    def get(self, path: str) -> FileRef:
        """Return the file that a path means.

        Raises:
            SandboxViolation: As for `find`.
            NotFound: There is no such file; the message names near matches.
        """

    def moments(self) -> Sequence[Moment]:
        """Return the moments that files can be compared with, the latest first; at least one."""

    def before(self, path: str, moment: Moment) -> FileRef | None:
        """Return a file as it was at one of the moments, or None if it was not there.

        A file that nothing has changed since is the one that `find` returns.

        Raises:
            SandboxViolation: As for `find`.
        """

    def new(self, path: str) -> FileName:
        """Return the name under which a new file may be written.

        Raises:
            SandboxViolation: As for `find`; or a part of the name begins with a dot, and no person
                added such a file.
            ValidationFailed: The file exists already, also under another case or spelling.
        """

    def describe(self, file: FileRef) -> dict[str, Any]:
        """Return `{path, kind, size_bytes, mime_type, is_opaque, reason?}` for a listing."""

    def stage(self, suffix: str = "") -> Path:
        """Return a path, not existing yet, where a worker may write a new version of a file.

        What is still there when the call ends is removed, whoever wrote it.

        Args:
            suffix: How the path's name ends, for formats that go by it (".tsv").
        """

    def cached(self, key: str) -> Path:
        """Return the path for a derived file named by its key, existing or not.

        Whoever makes it writes to `stage()` first and renames: what exists is complete. What is
        derived from one file's bytes has their hash in its key (`FileRef.blob`), and is removed
        with the last file that has these bytes. All of it may be removed at any time.
        """

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
        """Have a staged file become the draft's version of `name` when the call succeeds.

        Args:
            name: The file.
            staged: What it will be.
            external: What it reaches out to and did not before (`Applied.external`). The review
                shows it, and it is not published before a person accepts it.
            remaining: Of what the draft's version reached out to already (`FileRef.external`), what
                it still does; none where the file is written whole. None where that is not known:
                then all of it counts.
            notes: What else the review should show of this edit; nothing waits for it.
            focus: Where to look first.
        """


class FormatCatalog(Protocol):
    """The formats that are installed."""

    def handlers(self) -> Sequence[FormatHandler]:
        """Return all handlers, sorted by name."""

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the handler for a file's name by its suffix, or None for an opaque file."""


class Formats(FormatCatalog, Protocol):
    """The formats, with their capabilities called in workers.

    Each call raises ValidationFailed where the file's format has not the capability, and
    ToolTimeout or ToolWorkerUnavailable where the worker was killed or died.
    """

    async def info(self, file: FileRef) -> dict[str, Any]:
        """Return `FormatHandler.info`."""

    async def map(self, file: FileRef) -> dict[str, Any]:
        """Return `Mappable.map`, cached by content."""

    async def read(self, file: FileRef, region: Region) -> Reading:
        """Return `Readable.read`."""

    async def layout(self, file: FileRef, region: Region, show: LayoutPart) -> PageLayout:
        """Return `LaidOut.layout`."""

    async def compare(
        self, before: FileRef | None, after: FileRef | None, options: CompareOptions
    ) -> Comparison:
        """Return `Comparable.compare` of two versions, one of which may be None."""

    async def apply(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        operations: Sequence[Mapping[str, Any]],
        target: Path,
        files: Mapping[str, FileRef] | None = None,
    ) -> Applied:
        """Validate operations against the handler's records and `Editable.apply` them.

        With `files`, the other files that they name by their paths, they are given to
        `Editable.apply_with_files`; `kbd.editing.find_named_files` finds these.
        """

    async def preview(self, file: FileRef, index: int, edge_px: int) -> Preview:
        """Return `Previewable.preview`; that of the printed document where a format is `Printable`.

        Raises:
            ToolWorkerUnavailable: The file would have to be printed, and no program is there.
        """

    async def print(self, file: FileRef, target: Path) -> Printed:
        """Write a file of a `Printable` format as it is printed, in the format that is printed in.

        The same file gives the same bytes each time, but for what shows the date of printing. The
        program that prints follows no link, so that what a file only links to is not there.

        Args:
            file: The file.
            target: A path that does not exist yet.

        Raises:
            FileReadFailed: The file cannot be read, or not printed.
            ToolWorkerUnavailable: There is no program that prints; `actions` say what to do.
        """

    async def get_styles(self, file: FileRef, sheet: str | None) -> dict[str, Any]:
        """Return `Styled.get_styles`."""

    async def copy_assets(
        self, source: FileRef, into: FileRef | None, picks: Sequence[AssetPick], target: Path
    ) -> Applied:
        """Return `Styled.copy_assets` of the source's format."""

    async def read_table(
        self, file: FileRef, sheet: str | None, read_as: ReadAs, target: Path
    ) -> Table:
        """Return `Tabular.read_table`."""

    async def write_table(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        rows: Path,
        placement: Placement,
        target: Path,
    ) -> Written:
        """Return `Tabular.write_table`."""

    async def write_tables(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        sheets: Sequence[SheetRows],
        target: Path,
    ) -> WrittenTables:
        """Return `Tabular.write_tables`."""


class Recall(Protocol):
    """The results of earlier calls in this workbench."""

    async def result(self, entry_id: int) -> bytes:
        """Return a stored result as the JSON text (UTF-8) that the tool returned.

        Raises:
            NotFound: No call of this workbench has that entry id.
        """


class ToolContext(Protocol):
    """What one tool call may reach."""

    @property
    def files(self) -> Files:
        """The workbench's files."""

    @property
    def formats(self) -> Formats:
        """The formats."""

    @property
    def recall(self) -> Recall:
        """Earlier results."""

    @property
    def search(self) -> Search:
        """The documents, searched."""

    @property
    def now_us(self) -> int:
        """The time of the call in microseconds since 1970 UTC, as the log has it.

        The only clock of a tool: when the call is done again, it stands where it stood.
        """

    def note_reading(
        self,
        file: FileRef,
        sheet: str | None,
        reading: TableReading,
        *,
        columns: Mapping[str, str],
        row_count: int,
    ) -> None:
        """Note how a table was read that this call works with.

        It stands in the log beside the call, however that ends: when the call is done again with
        another version, a reading that has changed is named.

        Args:
            file: The table's file.
            sheet: Its sheet, where the file has several.
            reading: How it was read.
            columns: The type of each column, in their order.
            row_count: Its rows.
        """

    async def call_tool(
        self, tool: str, arguments: Mapping[str, Any], *, job: str = ""
    ) -> "ToolResult":
        """Call another tool as a part of this call, and return what it returned.

        It sees what this call and the calls before it wrote; what it writes lands with this call,
        or not at all. It has the time of a call of its own. The log has it beside this call's
        result, with what it was given.

        Args:
            tool: The tool's name.
            arguments: As a model would give them.
            job: The hash of the job that the call is a step of, for the log; "" for none.

        Raises:
            NotFound: There is no such tool.
            ValidationFailed: The arguments do not fit; or a tool that only reads calls one that
                writes, or a call within a call makes one more.
            KbdError: As the tool raises.
        """

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Call a module-level function of the tool's package in a worker process.

        Arguments and answer are plain values (what msgpack can carry; a Path is sent as text).
        The function can open what an argument names by a Path, and nothing else: a file that is
        there is read, one that is not there yet is written. It starts no process, and reaches no
        network. A KbdError raised there is raised here with its code.

        Args:
            function: The function.
            arguments: What it is called with, by keyword.
            limits: What it may use; the tool's own if None.
            with_program: Whether it may start the tool's `program`, which is confined as the call
                is; the function is given its path as `program`, too.

        Raises:
            ToolTimeout: It passed a limit and was killed with all it started.
            ToolWorkerUnavailable: It died, or the program is not installed.
        """


class ToolResult(msgspec.Struct, frozen=True):
    """Result of a tool.

    Args:
        value: The result as plain JSON values; what the contract's table calls "result".
        summary: What a receipt shows of a large result: the head that is worth reading (first
            rows, first lines) and the sizes, as plain values. None lets kbd cut the JSON text.
        is_action: Whether the result is a confirmation of a write, shown whole whatever its size.
        measured: The fields of `value` that tell how long something took, or the like: what no
            second call can return. Who repeats the call takes them from the log.
        told: What a person must be told of how the figures came about, a sentence each. The run's
            answer has them whatever the model writes.
        is_look: Whether the call only looked at tables, to choose among them, say: where another
            one worked with some, what is told of those is what the answer has.
    """

    value: Any
    summary: Mapping[str, Any] | None = None
    is_action: bool = False
    measured: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    is_look: bool = False


class Tool(ABC):
    """A tool: something that a model can call.

    Attributes:
        name: As the model sees it.
        description: What it does and how to use it well.
        arguments: The record of its arguments, a frozen Struct with `forbid_unknown_fields`;
            its JSON schema is shown to the model, and calls are validated against it.
        effect: What it does to the workbench; decides in which phases it may be called.
        limits: What its worker calls may use; settings may lower or raise them.
        preload: Modules that the worker of its package imports once, before it forks for calls.
            `module:function` is called as well, in each process that waits for a call: the first
            use of a library in a fork takes longest. It must leave nothing that a call could see.
        program: A program of the machine that its worker calls start, by the name under which it is
            found on the search path; "" for none. Where it is not installed models are not offered
            the tool, and a call of it is refused.
        prints: Whether its work is `Formats.print`; where no program is there that prints, models
            are not offered it either.
        wire_method: The method by which clients call it beside `ToolsCall`, its arguments as
            parameters; "" for none.
    """

    name: ClassVar[str]
    description: str
    arguments: type[msgspec.Struct]
    effect: ClassVar[Effect]
    limits: ClassVar[CallLimits] = CallLimits()
    preload: ClassVar[tuple[str, ...]] = ()
    program: ClassVar[str] = ""
    prints: ClassVar[bool] = False
    wire_method: ClassVar[str] = ""

    @abstractmethod
    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Do the work.

        Args:
            context: What this call may reach.
            arguments: An instance of `self.arguments`.

        Raises:
            KbdError: What went wrong; the model sees `Error: CODE: message`.
        """

    async def questions(self, context: ToolContext) -> Sequence[FileQuestion]:
        """Return what a person has to say about the files before figures can be told from them.

        It is asked before a run that nobody attends, and by clients before others. A file that
        cannot be read is no question: the run will tell.
        """
        del context
        return ()

    def path_of(self, arguments: Any) -> str | None:
        """Return the path that progress should show for a call, if it has one."""
        path = getattr(arguments, "path", None)
        return path if isinstance(path, str) else None
