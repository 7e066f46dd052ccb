"""The methods that formats contribute: one answer for each kind, whatever the format."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from kbd.core.methods.owncalls import own_call
from kbd.core.methods.shop import Shop
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Owned
from kbd.core.plugins.wire_methods import WireMethod
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.run_contexts import open_files, open_formats
from kbd.core.workbench.call_files import CallFiles
from kbd.editing import Edited, apply_operations, copy_assets, own_file
from kbd.errors import ValidationFailed
from kbd.formats import AssetPick, Celled, Reading, Region
from kbd.requests import formats as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.tools import FileRef

__all__ = ["FormatMethods"]

Method = Owned[WireMethod]


class FormatMethods:
    """Shows and edits single files, by what their formats can do."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request: the contributed ones of all formats."""
        answers: dict[type[Request], Callable[[Method, Any, Session], Awaitable[Any]]] = {
            wire.GetInfo: self.info,
            wire.GetMap: self.map,
            wire.ReadRegion: self.read,
            wire.ReadObjects: self.objects,
            wire.GetPreview: self.preview,
            wire.ExtractText: self.extract,
            wire.GetStyles: self.styles,
            wire.ApplyOps: self.apply,
            wire.CopyAssets: self.copy,
        }
        return {
            method.item.kind: partial(answers[method.item.base], method)
            for method in self._parts.catalog.methods()
        }

    async def info(self, method: Method, request: wire.GetInfo, session: Session) -> dict[str, Any]:
        """Tell what is known of a file for little."""
        del session
        files, formats, file = await self._file(method, request)
        return {**files.describe(file), **await formats.info(file)}

    async def map(self, method: Method, request: wire.GetMap, session: Session) -> dict[str, Any]:
        """Tell a file's structure."""
        del session
        _, formats, file = await self._file(method, request)
        return await formats.map(file)

    async def read(
        self, method: Method, request: wire.ReadRegion, session: Session
    ) -> wire.RegionRead:
        """Read a region; with its cells where the format has cells."""
        del session
        _, formats, file = await self._file(method, request)
        read = formats.cells if isinstance(method.item.handler, Celled) else formats.read
        return _region_read(await read(file, _region(request)))

    async def objects(
        self, method: Method, request: wire.ReadObjects, session: Session
    ) -> dict[str, Any]:
        """Read a region with what stands in it."""
        del session
        _, formats, file = await self._file(method, request)
        reading = await formats.objects(file, _region(request))
        answer: dict[str, Any] = {"text": reading.text, "warnings": reading.warnings}
        if reading.chunk_info is not None:
            answer["chunk_info"] = msgspec.structs.asdict(reading.chunk_info)
        return answer | dict(reading.objects or {})

    async def preview(
        self, method: Method, request: wire.GetPreview, session: Session
    ) -> wire.PreviewPicture:
        """Show a page, slide or picture."""
        del session
        _, formats, file = await self._file(method, request)
        given = msgspec.structs.asdict(request)
        index = given["page"] - 1 if "page" in given else 0
        index = given.get("slide_index", given.get("frame_index", index))
        shown = await formats.preview(file, index, request.edge_px)
        return wire.PreviewPicture(
            base64=b64encode(shown.data).decode(),
            mime_type=shown.mime_type,
            width=shown.width,
            height=shown.height,
            count=shown.count,
            warnings=shown.warnings,
        )

    async def extract(
        self, method: Method, request: wire.ExtractText, session: Session
    ) -> wire.TextExtracted:
        """Return a part of all text, or of a region's."""
        del session
        _, formats, file = await self._file(method, request)
        region = _region(request)
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
        self, method: Method, request: wire.GetStyles, session: Session
    ) -> dict[str, Any]:
        """Tell how a file looks."""
        del session
        _, formats, file = await self._file(method, request)
        sheet = request.sheet
        return await formats.get_styles(file, None if isinstance(sheet, Unset) else sheet)

    async def apply(
        self, method: Method, request: wire.ApplyOps, session: Session
    ) -> wire.FileWritten:
        """Edit a file, or make one, in the draft."""
        del session
        bench = await self._shop.bench(request.workbench_id)

        async def work(files: CallFiles) -> Edited:
            return await apply_operations(
                files,
                open_formats(self._parts, bench),
                method.item.handler,
                request.path,
                request.ops,
                create_new=request.create_new,
                create_if_missing=request.create_if_missing,
                copy_from=request.copy_from,
            )

        return await own_call(self._parts, bench, method.plugin, request, work)

    async def copy(
        self, method: Method, request: wire.CopyAssets, session: Session
    ) -> wire.FileWritten:
        """Copy assets of one file into another, in the draft."""
        del session
        bench = await self._shop.bench(request.workbench_id)
        picks = tuple(_pick(asset) for asset in request.assets)

        async def work(files: CallFiles) -> Edited:
            return await copy_assets(
                files,
                open_formats(self._parts, bench),
                method.item.handler,
                request.source_path,
                request.target_path,
                picks,
            )

        return await own_call(self._parts, bench, method.plugin, request, work)

    async def _file(
        self, method: Method, request: wire.ReadFileRequest
    ) -> tuple[CallFiles, FormatCalls, FileRef]:
        """Return the file that is asked about, with what to ask.

        Raises:
            ValidationFailed: It is of another format, or the draft is asked for and none is open.
            NotFound: There is no such file, or no such workbench.
        """
        bench = await self._shop.bench(request.workbench_id)
        if request.root == "draft" and bench.state.draft is None:
            msg = "no draft is open in this workbench: leave root out to read what is published"
            raise ValidationFailed(msg)
        files = open_files(self._parts, bench, published=request.root == "published")
        formats = open_formats(self._parts, bench)
        return files, formats, own_file(formats, method.item.handler, files.get(request.path))


def _region(request: wire.ReadFileRequest) -> Region:
    given = msgspec.structs.asdict(request)
    names = Region.__struct_fields__
    return Region(**{name: given[name] for name in names if given.get(name, UNSET) is not UNSET})


def _region_read(reading: Reading) -> wire.RegionRead:
    place = reading.chunk_info
    chunk_info: wire.ChunkPlace | Unset = UNSET
    if place is not None:
        chunk_info = wire.ChunkPlace(**msgspec.structs.asdict(place))
    rows = UNSET if reading.rows is None else reading.rows
    return wire.RegionRead(
        text=reading.text, warnings=reading.warnings, chunk_info=chunk_info, rows=rows
    )


def _pick(asset: str | wire.AssetParam) -> AssetPick:
    if isinstance(asset, str):
        return AssetPick(asset)
    return AssetPick(asset.asset_id, asset.target)
