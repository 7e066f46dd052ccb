"""The search of a workbench, as one call sees it: its engine, the files, and whom it may ask."""

import os
from functools import partial
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.supervisor.outside import CallAsking, PassageEmbedding
from kbd.core.supervisor.parts import Parts
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.workbench import Bench
from kbd.core.workspace.lookup import Lookup
from kbd.core.workspace.reading import CallReader
from kbd.core.workspace.rooms import Room
from kbd.core.workspace.searching import WorkspaceEngine
from kbd.errors import ValidationFailed

__all__ = ["lookup_of", "room_of", "use_index"]

INDEX, CHOSEN = "index", "index-dir"
"""In a workbench's cache: the folder of its index, and the file that names another one."""

READING_SHARE = 0.8
"""How much of a call's time may go into reading documents; the search itself needs little."""


def lookup_of(
    parts: Parts, bench: Bench, files: CallFiles, formats: FormatCalls, run: int, model_id: str
) -> Lookup:
    """Return the search of one call.

    Args:
        parts: The daemon's.
        bench: The workbench.
        files: The files as the call sees them.
        formats: The formats as this workbench calls them.
        run: The run that calls, or 0 for a client.
        model_id: The workbench's model, or "" where none is named.
    """
    room = room_of(parts, bench, formats)
    asking = CallAsking(parts, bench, room, run, _writer(parts, model_id))
    return Lookup(room, files, asking, READING_SHARE * parts.settings.run.tool_s)


def room_of(parts: Parts, bench: Bench, formats: FormatCalls) -> Room:
    """Return the room of a workbench's engine."""
    return parts.rooms.of(bench.id, partial(_engine, parts, bench, formats))


async def use_index(parts: Parts, bench: Bench, folder: Path) -> None:
    """Have a workbench use the index in a folder from now on.

    Raises:
        ValidationFailed: The folder is kbd's own, or holds something that is no index.
        KbdError: It cannot be made or opened; the index that was used stays in use.
    """
    home = parts.home.folder
    inside = await run_sync(lambda: folder.resolve().is_relative_to(home.resolve()))
    if inside:
        msg = "index_dir lies in kbd's own home: name a folder of yours"
        raise ValidationFailed(msg)
    await run_sync(_try_out, parts, bench, folder)
    await parts.rooms.close(bench.id)
    await run_sync(_choose, bench, folder)


def _engine(parts: Parts, bench: Bench, formats: FormatCalls) -> WorkspaceEngine:
    """Open a workbench's engine; called in a thread."""
    return _opened(parts, bench, _chosen(bench), formats)


def _opened(parts: Parts, bench: Bench, folder: Path, formats: FormatCalls) -> WorkspaceEngine:
    embed = PassageEmbedding(parts, bench)
    most = parts.settings.search.document_characters
    return WorkspaceEngine(
        "",
        folder,
        sources=tuple,
        reader=CallReader(formats, most),
        embed=embed,
        document_characters=most,
    )


def _try_out(parts: Parts, bench: Bench, folder: Path) -> None:
    _opened(parts, bench, folder, FormatCalls(parts.catalog, parts.workers)).close()


def _chosen(bench: Bench) -> Path:
    """Return the folder of the index: the one that a person named, or the workbench's own."""
    own = bench.folders.cache / INDEX
    try:
        named = Path(os.fsdecode((bench.folders.cache / CHOSEN).read_bytes()))
    except OSError:
        return own
    return named if named.is_dir() else own


def _choose(bench: Bench, folder: Path) -> None:
    chosen = bench.folders.cache / CHOSEN
    fresh = chosen.with_name(f"{CHOSEN}.new")
    fresh.write_bytes(os.fsencode(folder))
    fresh.replace(chosen)


def _writer(parts: Parts, model_id: str) -> str:
    """Return the model if it writes texts of its own and could be asked, else ""."""
    models = parts.egress.models
    if not model_id or not models.provider(model_id).writes_prose:
        return ""
    return model_id
