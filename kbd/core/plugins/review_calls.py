"""Calls by which files are compared and shown: comparisons, grids, pages, printed documents."""

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import msgspec

from kbd.core.plugins.derived_cache import cache_key
from kbd.core.plugins.host import Owned
from kbd.core.plugins.packed_comparison import PackedComparison, unpack
from kbd.core.plugins.renderer import PageCounts, PrintRequest, RendererProgram
from kbd.core.plugins.worker_calls import WorkerCalls, file_arguments, unsupported_error
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Comparable,
    CompareOptions,
    Comparison,
    FormatHandler,
    Grid,
    Gridded,
    GridWindow,
    Inspectable,
    Place,
    Preview,
    Previewable,
    Printable,
    Printed,
    Receiptable,
    Trace,
)
from kbd.tools import FileRef

__all__ = ["ReviewCalls"]

_COMPARISON = "compare-2"
"""The edition of comparisons: 2 since they tell of lines beside a table, and since encodings are
told apart by the languages of their letters."""

MIN_EDGE_PX = 16
"""The smallest preview: of one that is only made to see that it can be."""


_LINK_WARNING = "What the file only links to (pictures, sections, data) is not fetched."


class _PrintedFile(msgspec.Struct, frozen=True):
    """A printed document, what has printed it, and the format that it is in."""

    file: FileRef
    program: RendererProgram
    format: Owned[FormatHandler]


class ReviewCalls(WorkerCalls):
    """The calls by which files of one workbench are compared and shown."""

    async def preview(self, file: FileRef, index: int, edge_px: int) -> Preview:
        """Return `Previewable.preview`; that of the printed document where a format is printed.

        Raises:
            FileReadFailed: The file cannot be read, or not printed.
            ToolTimeout: The renderer passed a limit.
            ToolWorkerUnavailable: There is no renderer.
            ValidationFailed: There is no such page, slide or frame.
        """
        owned = self._format_of(file)
        if isinstance(owned.item, Previewable):
            return await self._preview_page(owned, file, index, edge_px)
        document = await self._printed_of(owned, file, "be shown as a picture")
        shown = await self._preview_page(document.format, document.file, index, edge_px)
        warnings = (*shown.warnings, _layout_warning(document.program))
        return msgspec.structs.replace(shown, warnings=warnings)

    def can_print(self) -> bool:
        """Tell whether a program is there that prints documents. Looks at the disk."""
        return self._printed is not None and self._printed.has_program()

    async def print(self, file: FileRef, target: Path) -> Printed:
        """Write a file's printed document to `target`; see `kbd.tools.Formats.print`.

        Raises:
            FileReadFailed: The file cannot be read, or not printed.
            ToolTimeout: The renderer passed a limit.
            ToolWorkerUnavailable: There is no renderer.
            ValidationFailed: The file's format is not printed.
        """
        owned = self._format_of(file)
        document = await self._printed_of(owned, file, "be printed")
        printed_as, source = document.format, document.file
        count = (await self._preview_page(printed_as, source, 0, MIN_EDGE_PX)).count
        arguments = {**file_arguments(source), "target": target}
        await self._call(printed_as, "settle_print", type(None), arguments, FileReadFailed)
        assert isinstance(owned.item, Printable)
        program = document.program
        warnings = (_layout_warning(program), _LINK_WARNING, *owned.item.print_notes)
        return Printed(count, program.name, warnings)

    async def _printed_of(
        self, owned: Owned[FormatHandler], file: FileRef, what: str
    ) -> _PrintedFile:
        """Return a file's printed document; raises as `print` does."""
        shown_by = self._catalog.print_format()
        if not isinstance(owned.item, Printable) or self._printed is None or shown_by is None:
            raise unsupported_error(owned.item, what, file.name)
        if self._note is not None:
            self._note(shown_by.plugin)
        request = _print_request(owned.item, shown_by, file)
        field = owned.item.page_count_field

        async def due() -> int | None:
            # Whoever prints a file that its own format cannot read prints something else.
            facts = await self._read(owned, "info", dict[str, Any], file)
            return int(facts[field]) if field in facts else None

        async def printed(document: FileRef) -> int:
            return (await self._preview_page(shown_by, document, 0, MIN_EDGE_PX)).count

        document, program = await self._printed.print(request, PageCounts(due, printed))
        return _PrintedFile(document, program, shown_by)

    async def grid(self, file: FileRef, window: GridWindow) -> Grid:
        """Return `Gridded.grid`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Gridded):
            raise unsupported_error(owned.item, "be shown as a grid", file.name)
        which = {"window": msgspec.to_builtins(window)}
        return await self._read(owned, "grid", Grid, file, which)

    async def compare(
        self, before: FileRef | None, after: FileRef | None, options: CompareOptions
    ) -> Comparison:
        """Return `Comparable.compare`, cached by the contents of both versions; one is given."""
        owned = self._comparable(after or before)
        handler = owned.item
        assert isinstance(handler, Comparable)
        name = (after or before).name  # type: ignore[union-attr]
        strange = [each for each in options.named() if each not in handler.compare_options]
        if strange:
            offered = ", ".join(handler.compare_options) or "none"
            msg = f"{', '.join(strange)} cannot be used to compare {name}; it takes: {offered}"
            raise ValidationFailed(msg)
        narrowed = msgspec.to_builtins(options)
        digest = hashlib.sha256(msgspec.json.encode(options)).hexdigest()[:16]
        key = cache_key(f"{_COMPARISON}-{digest}", owned, before, after)
        known = await self._derived.find(key)
        if known is not None:
            with contextlib.suppress(msgspec.MsgspecError):  # Damaged on the disk: made anew.
                return await unpack(msgspec.convert(known, PackedComparison))
        versions = {"before": _version(before), "after": _version(after)}
        arguments = {"name": name, **versions, "options": narrowed}
        packed = await self._call(owned, "compare", PackedComparison, arguments, FileReadFailed)
        try:
            found = await unpack(packed)
        except msgspec.MsgspecError as fault:
            msg = f"format {owned.item.name} answered compare with something ill-formed: {fault}"
            raise FileReadFailed(msg) from None
        plain = msgspec.to_builtins(packed, builtin_types=(bytes,))
        await self._derived.store(key, plain, before, after)
        return found

    async def trace(
        self, before: FileRef, after: FileRef, places: Sequence[Place], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return `Comparable.trace`."""
        owned = self._comparable(after)
        arguments = {
            "name": after.name,
            "before": _version(before),
            "after": _version(after),
            "places": msgspec.to_builtins(tuple(places)),
            "forward": forward,
        }
        return await self._call(owned, "trace", tuple[Trace, ...], arguments, FileReadFailed)

    async def receipt_facts(
        self, name: str, versions: Sequence[FileRef | None], steps: Sequence[int], limit: int
    ) -> dict[str, Any] | None:
        """Return `Receiptable.receipt_facts`; None for a format that tells none.

        Args:
            name: What the file is called.
            versions: Its versions; None where there was no file.
            steps: The numbers of the steps between them.
            limit: How many entries of lists may be shown.

        Raises:
            FileReadFailed: A version cannot be read.
            ToolTimeout: It took too long.
        """
        handler = self.for_name(name)
        if not isinstance(handler, Receiptable):
            return None
        assert isinstance(handler, FormatHandler)
        arguments = {
            "name": name,
            "versions": [_version(each) for each in versions],
            "steps": list(steps),
            "limit": limit,
        }
        owned = self._owner(handler)
        return await self._call(owned, "receipt_facts", dict[str, Any], arguments, FileReadFailed)

    async def active_content(
        self, name: str, path: Path, known: Sequence[FileRef]
    ) -> tuple[str, ...]:
        """Return `Inspectable.active_content`.

        Args:
            name: What the file is called.
            path: Its bytes.
            known: Files whose active content is no news.

        Raises:
            ValidationFailed: The file's format does not tell it.
            FileReadFailed: A file cannot be read.
        """
        handler = self.for_name(name)
        if not isinstance(handler, Inspectable):
            msg = f"{name} is of no format that tells what its files run"
            raise ValidationFailed(msg)
        assert isinstance(handler, FormatHandler)
        arguments = {
            "name": name,
            "file": (path, name),
            "known": [_version(each) for each in known],
        }
        owned = self._owner(handler)
        return await self._call(owned, "active_content", tuple[str, ...], arguments, FileReadFailed)

    async def locate(self, file: FileRef, text: str) -> Place:
        """Return `Comparable.locate`."""
        return await self._read(self._comparable(file), "locate", Place, file, {"text": text})

    async def _preview_page(
        self, owned: Owned[FormatHandler], file: FileRef, index: int, edge_px: int
    ) -> Preview:
        which = {"index": index, "edge_px": edge_px}
        return await self._read(owned, "preview", Preview, file, which)

    def _comparable(self, file: FileRef | None) -> Owned[FormatHandler]:
        assert file is not None
        owned = self._format_of(file)
        if not isinstance(owned.item, Comparable):
            raise unsupported_error(owned.item, "be compared by its contents", file.name)
        return owned


def _print_request(
    handler: Printable, shown_by: Owned[FormatHandler], file: FileRef
) -> PrintRequest:
    """Return the request for a file's printed document, which a format shows."""
    assert isinstance(handler, FormatHandler)
    assert isinstance(shown_by.item, Previewable)
    suffix = PurePath(file.name.casefold()).suffix
    target_suffix = shown_by.item.print_suffix
    return PrintRequest(
        file=file,
        # By it the program knows the format, so it is none of the file's own words.
        suffix=suffix if suffix in handler.suffixes else next(iter(handler.suffixes)),
        target_suffix=target_suffix,
        export_filter=handler.print_filters.get(target_suffix, ""),
        plugin=shown_by.plugin.name,
    )


def _layout_warning(program: RendererProgram) -> str:
    """Return what is told of every printed document."""
    warning = f"Printed by {program.name}: breaks of lines and pages, and fonts, may differ "
    return f"{warning}from what other programs show."


def _version(file: FileRef | None) -> tuple[Path, str] | None:
    return None if file is None else (file.path, file.name)
