"""Methods that formats contribute: one answer for each kind, whatever the format.

A client's own call that writes is done like a tool's, and recorded without a run
(`kbd.core.api.client_calls`).
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from kbd.core.api.client_calls import recorded_call
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Owned, Plugin
from kbd.core.plugins.wire_methods import WireMethod
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_files, open_formats
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.content_diff import answer_diff
from kbd.core.workbench.preview_answers import render_grid, render_picture
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.editing import Edited, apply_operations, copy_assets, own_file
from kbd.errors import ValidationFailed
from kbd.formats import (
    AssetPick,
    Celled,
    ChunkInfo,
    GridWindow,
    LayoutPart,
    PageLayout,
    Reading,
    Region,
)
from kbd.requests import formats as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.requests.formats import FileWritten
from kbd.requests.reviews import ContentDiff, GetDiff
from kbd.tools import FileRef

__all__ = ["FormatMethods", "check_root", "run_client_call"]


async def run_client_call(
    context: ApiContext,
    workbench: OpenWorkbench,
    plugin: Plugin,
    request: Request,
    work: Callable[[CallFiles], Awaitable[Edited]],
) -> FileWritten:
    """Carry out a client's call and record it.

    Args:
        context: The daemon's.
        workbench: The workbench, acting for the client.
        plugin: The plugin that brings the method.
        request: What the client asked for.
        work: Does it: stages what it writes and puts it into the files it is given.

    Raises:
        ValidationFailed: A run or a publish is under way; nothing was recorded. Or a run has begun
            meanwhile, or a file is not what the call saw: nothing was written.
        KbdError: What the work raised; that is recorded, and nothing was written.
    """
    given = msgspec.to_builtins(request)
    arguments = {name: value for name, value in given.items() if name not in _NOT_ARGUMENTS}
    async with recorded_call(
        context, workbench, plugin, request.method, msgspec.json.encode(arguments)
    ) as call:
        edited = await work(call.files)
        found = await call.files.inspect(open_formats(context, workbench))
        answer = FileWritten(
            applied=edited.applied,
            changed=edited.changed,
            warnings=tuple(dict.fromkeys((*edited.warnings, *found))),
            results=edited.results or UNSET,
        )
        # Durable as blobs before any event names them; the one frame that does comes last.
        changes = await call.files.land(call.id)
        await call.record(msgspec.json.encode(answer).decode(), changes)
    return answer


def check_root(workbench: OpenWorkbench, root: str | Unset) -> None:
    """Check that the version of files that is asked for is there.

    Raises:
        ValidationFailed: It is the draft's, and none is open.
    """
    if root == "draft" and workbench.state.draft is None:
        msg = "no draft is open in this workbench: leave root out to read what is published"
        raise ValidationFailed(msg)


_NOT_ARGUMENTS = ("api_version", "workbench_id")


OwnedMethod = Owned[WireMethod]


class FormatMethods:
    """Handlers of single files: read and edit, by what their formats can do."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request: the contributed ones of all formats."""
        answers: dict[type[Request], Callable[[OwnedMethod, Any, Session], Awaitable[Any]]] = {
            wire.GetInfo: self.info,
            wire.GetMap: self.map,
            wire.ReadRegion: self.read,
            wire.ReadObjects: self.objects,
            wire.GetTables: self.tables,
            wire.GetWords: self.words,
            wire.ReadLayout: self.layout,
            wire.GetPreview: self.preview,
            wire.GetGrid: self.grid,
            GetDiff: self.diff,
            wire.ExtractText: self.extract,
            wire.GetStyles: self.styles,
            wire.ApplyOps: self.apply,
            wire.CopyAssets: self.copy,
        }
        return {
            method.item.kind: partial(answers[method.item.base], method)
            for method in self._context.catalog.methods()
        }

    async def info(
        self, method: OwnedMethod, request: wire.GetInfo, session: Session
    ) -> dict[str, Any]:
        """Return the information about a file that is cheap to find out."""
        del session
        files, formats, file = await self._file(method, request)
        return {**files.describe(file), **await formats.info(file)}

    async def map(
        self, method: OwnedMethod, request: wire.GetMap, session: Session
    ) -> dict[str, Any]:
        """Return the map of a file: its structure."""
        del session
        _, formats, file = await self._file(method, request)
        return await formats.map(file)

    async def read(
        self, method: OwnedMethod, request: wire.ReadRegion, session: Session
    ) -> wire.RegionRead:
        """Read a region; with its cells where the format has cells."""
        del session
        _, formats, file = await self._file(method, request)
        read = formats.cells if isinstance(method.item.handler, Celled) else formats.read
        return _render_reading(await read(file, _parse_region(request)))

    async def objects(
        self, method: OwnedMethod, request: wire.ReadObjects, session: Session
    ) -> dict[str, Any]:
        """Read a region with what stands in it."""
        del session
        _, formats, file = await self._file(method, request)
        reading = await formats.objects(file, _parse_region(request))
        answer: dict[str, Any] = {"text": reading.text, "warnings": reading.warnings}
        if reading.chunk_info is not None:
            answer["chunk_info"] = msgspec.structs.asdict(reading.chunk_info)
        return answer | dict(reading.objects or {})

    async def tables(
        self, method: OwnedMethod, request: wire.GetTables, session: Session
    ) -> wire.TablesFound:
        """Find the tables of a region."""
        del session
        found = await self._layout(method, request, "tables")
        tables = msgspec.convert(msgspec.to_builtins(found.tables), tuple[wire.PlacedTable, ...])
        place = _render_place(found.chunk_info)
        return wire.TablesFound(tables=tables, warnings=found.warnings, chunk_info=place)

    async def words(
        self, method: OwnedMethod, request: wire.GetWords, session: Session
    ) -> wire.WordsFound:
        """Return the words of a region with their boxes."""
        del session
        found = await self._layout(method, request, "words")
        words = msgspec.convert(msgspec.to_builtins(found.words), tuple[wire.PlacedWord, ...])
        place = _render_place(found.chunk_info)
        return wire.WordsFound(words=words, warnings=found.warnings, chunk_info=place)

    async def layout(
        self, method: OwnedMethod, request: wire.ReadLayout, session: Session
    ) -> wire.LayoutRead:
        """Read a region as it stands on its pages."""
        del session
        found = await self._layout(method, request, "text")
        place = _render_place(found.chunk_info)
        return wire.LayoutRead(text=found.text, warnings=found.warnings, chunk_info=place)

    async def _layout(
        self, method: OwnedMethod, request: wire.ReadFileRequest, show: LayoutPart
    ) -> PageLayout:
        _, formats, file = await self._file(method, request)
        return await formats.layout(file, _parse_region(request), show)

    async def preview(
        self, method: OwnedMethod, request: wire.GetPreview, session: Session
    ) -> wire.PreviewPicture:
        """Render a preview of a page, slide or picture."""
        del session
        _, formats, file = await self._file(method, request)
        given = msgspec.structs.asdict(request)
        # Clients count pages from 1, but slides and frames from 0.
        index = given["page"] - 1 if "page" in given else 0
        index = given.get("slide_index", given.get("frame_index", index))
        return render_picture(await formats.preview(file, index, request.edge_px))

    async def grid(
        self, method: OwnedMethod, request: wire.GetGrid, session: Session
    ) -> wire.PreviewGrid:
        """Show a window of cells."""
        del session
        _, formats, file = await self._file(method, request)
        window = GridWindow(
            sheet=None if isinstance(request.sheet, Unset) else request.sheet,
            row_start=request.row_start,
            row_count=request.row_count,
            column_start=request.column_start,
            column_count=request.column_count,
        )
        return render_grid(await formats.grid(file, window))

    async def diff(self, method: OwnedMethod, request: GetDiff, session: Session) -> ContentDiff:
        """Compare the draft's version of a file with its reference.

        Raises:
            ValidationFailed: It is of another format, or no draft is open.
            NotFound: There is no such file, or no such workbench.
        """
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        formats = open_formats(self._context, workbench)
        return await answer_diff(workbench, formats, request, method.item.handler)

    async def extract(
        self, method: OwnedMethod, request: wire.ExtractText, session: Session
    ) -> wire.TextExtracted:
        """Return a part of all text, or of a region's."""
        del session
        _, formats, file = await self._file(method, request)
        region = _parse_region(request)
        cursor = (request.passage_start, request.character_start, request.limit)
        found = await formats.extract(file, region, *cursor)
        passage, character = found.following or (UNSET, UNSET)
        return wire.TextExtracted(
            text=found.text,
            places=tuple(wire.TextPlace(place=place, start=start) for place, start in found.places),
            has_more=found.following is not None,
            passage_start=passage,
            character_start=character,
        )

    async def styles(
        self, method: OwnedMethod, request: wire.GetStyles, session: Session
    ) -> dict[str, Any]:
        """Return the styles of a file."""
        del session
        _, formats, file = await self._file(method, request)
        sheet = request.sheet
        return await formats.get_styles(file, None if isinstance(sheet, Unset) else sheet)

    async def apply(
        self, method: OwnedMethod, request: wire.ApplyOps, session: Session
    ) -> wire.FileWritten:
        """Edit a file, or make one, in the draft."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)

        async def work(files: CallFiles) -> Edited:
            return await apply_operations(
                files,
                open_formats(self._context, workbench).at(self._context.clock.now_us()),
                method.item.handler,
                request.path,
                request.ops,
                create_new=request.create_new,
                create_if_missing=request.create_if_missing,
                copy_from=request.copy_from,
            )

        return await run_client_call(self._context, workbench, method.plugin, request, work)

    async def copy(
        self, method: OwnedMethod, request: wire.CopyAssets, session: Session
    ) -> wire.FileWritten:
        """Copy assets of one file into another, in the draft."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        assets = tuple(_parse_asset(asset) for asset in request.assets)

        async def work(files: CallFiles) -> Edited:
            return await copy_assets(
                files,
                open_formats(self._context, workbench),
                method.item.handler,
                request.source_path,
                request.target_path,
                assets,
            )

        return await run_client_call(self._context, workbench, method.plugin, request, work)

    async def _file(
        self, method: OwnedMethod, request: wire.ReadFileRequest
    ) -> tuple[CallFiles, FormatCalls, FileRef]:
        """Return the file that is asked about, with what to ask.

        Raises:
            ValidationFailed: It is of another format, or the draft is asked for and none is open.
            NotFound: There is no such file, or no such workbench.
        """
        workbench = await self._workbenches.open(request.workbench_id)
        check_root(workbench, request.root)
        files = open_files(self._context, workbench, published=request.root == "published")
        formats = open_formats(self._context, workbench)
        return files, formats, own_file(formats, method.item.handler, files.get(request.path))


def _parse_region(request: wire.ReadFileRequest) -> Region:
    given = msgspec.structs.asdict(request)
    names = Region.__struct_fields__
    return Region(**{name: given[name] for name in names if given.get(name, UNSET) is not UNSET})


def _render_place(place: ChunkInfo | None) -> wire.ChunkPlace | Unset:
    return UNSET if place is None else wire.ChunkPlace(**msgspec.structs.asdict(place))


def _render_reading(reading: Reading) -> wire.RegionRead:
    chunk_info = _render_place(reading.chunk_info)
    rows = UNSET if reading.rows is None else reading.rows
    return wire.RegionRead(
        text=reading.text, warnings=reading.warnings, chunk_info=chunk_info, rows=rows
    )


def _parse_asset(asset: str | wire.AssetParam) -> AssetPick:
    if isinstance(asset, str):
        return AssetPick(asset)
    return AssetPick(asset.asset_id, asset.target)
