"""Limits and files on disk are as the reference says, and all of them are there."""

import re
from pathlib import Path

import msgspec

import kbd_tables.read_tools
from documentation import table, tables
from kbd.cli import start
from kbd.cli.chat import prompt
from kbd.core.agent.deltas import MAX_TEXT_CHARS
from kbd.core.agent.model_calls import MAX_ARGUMENT_BYTES
from kbd.core.audit import restore
from kbd.core.audit.review_page import file_view, gather
from kbd.core.domain import watch_decisions
from kbd.core.home_index import verified_logs
from kbd.core.plugins import faults, hooks, renderer
from kbd.core.plugins.answer_shape import MAX_CONTAINERS, MAX_VALUES
from kbd.core.runtime import paths
from kbd.core.runtime.held_folder import MAX_LEVELS, MAX_MADE_LEVELS
from kbd.core.server.dispatch import ServerLimits
from kbd.core.watch import dry_run
from kbd.core.watch.tree import MAX_DEPTH
from kbd.core.workbench.event_rows import MAX_READ_BYTES
from kbd.core.workbench.sandbox import MAX_COMPONENT_BYTES, MAX_COMPONENTS
from kbd.events import log
from kbd.events.frame import FRAME_LIMIT
from kbd.messages import MAX_TOKENS
from kbd.opc import guard
from kbd.requests.pages import MAX_PAGE_ROWS
from kbd.requests.watches import WatchAdd
from kbd_openai import assembly, client_calls, event_stream


def places(kind: type[msgspec.Struct], of: msgspec.Struct) -> set[Path]:
    """The paths that a record's properties give."""
    found = [getattr(of, name) for name, each in vars(kind).items() if isinstance(each, property)]
    return {path for path in found if isinstance(path, Path)}


def test_files_on_disk_are_documented() -> None:
    """Each file and folder of the home and of a workbench is in its table."""
    page = "reference/files-on-disk.md"
    home = paths.Home(Path("/home"), Path("/home/kbd.sock"))
    bench = home.workbench("0" * 16)
    of_home = {*places(paths.Home, home), home.socket, home.folder / prompt.HISTORY_NAME}
    of_home |= {home.folder / restore.RESTORED_NAME, home.folder / "daemon" / start.LOG_NAME}
    of_home.add(home.index_file.with_name(verified_logs.VERIFIED_NAME))
    in_home = {str(path.relative_to(home.folder)) for path in of_home}
    in_bench = {str(path.relative_to(bench.root)) for path in places(paths.WorkbenchFolders, bench)}

    assert in_home == {name.rstrip("/") for name in table(page, "In the home")}
    assert in_bench == {name.rstrip("/") for name in table(page, "In a workbench")}


UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


def figures(cell: str) -> list[float]:
    """The numbers in a cell, sizes in bytes."""
    found = re.findall(r"(\d[\d,]*(?:\.\d+)?)(?: (KiB|MiB|GiB))?", cell)
    return [float(number.replace(",", "")) * UNITS.get(unit, 1) for number, unit in found]


def test_limits_are_documented() -> None:
    """Each limit that is no setting is in the table with the figure that the code has."""
    most_patterns = msgspec.json.schema(WatchAdd)["$defs"]["WatchAdd"]["properties"]["patterns"]
    limits = {
        "unanswered requests of one client": [ServerLimits().in_flight],
        "one reply of a model": [assembly.MAX_REPLY_BYTES, assembly.MAX_CALLS],
        "text of a reply that is recorded, and streamed to clients": [MAX_TEXT_CHARS],
        "one event of a provider's stream": [
            event_stream.MAX_EVENT_BYTES,
            event_stream.MAX_OBJECTS,
        ],
        "answer of a provider with vectors, with its list of models": [
            client_calls.MAX_EMBEDDINGS_BYTES,
            client_calls.MAX_LISTING_BYTES,
        ],
        "imports and hooks of all plugins of others, one hook": [hooks.LOADING_S, hooks.HOOK_S],
        "faults of a plugin until it is left out": [faults.MAX_FAULTS],
        "one step of a plugin in the event loop": [faults.STALL_S, faults.BLOCK_S],
        "tokens that a provider may say a call consumed": [MAX_TOKENS],
        "time to complete a message that was begun": [ServerLimits().partial_s],
        "arrays and objects of a message": [ServerLimits().parts],
        "commas between values of a message": [ServerLimits().values],
        "messages over 64 KiB, of all clients, until they are answered": [
            ServerLimits().long_bytes
        ],
        "what waits for clients that do not read, in all": [ServerLimits().backlog_bytes],
        "events of an answer to `EventsRead`": [MAX_READ_BYTES],
        "values of a worker's answer": [MAX_VALUES, MAX_CONTAINERS],
        "workbenches whose notifications one client gets": [ServerLimits().names],
        "arguments of a tool call": [MAX_ARGUMENT_BYTES],
        "rows of a window of rows": [kbd_tables.read_tools._MAX_ROWS],
        "rows of a query": [kbd_tables.read_tools._MAX_WINDOW_ROWS],
        "rows of a page of a list": [MAX_PAGE_ROWS],
        "name of a file": [MAX_COMPONENTS, MAX_COMPONENT_BYTES],
        "path of a folder that results go to": [MAX_LEVELS, MAX_MADE_LEVELS],
        "package (workbook, document, deck), unpacked": [
            guard.MAX_PART_BYTES,
            guard.MAX_TOTAL_BYTES,
        ],
        "parts of a package": [guard.MAX_ENTRIES],
        "frame of the log": [FRAME_LIMIT],
        "segment of the log": [log._SEGMENT_LIMIT],
        "watched folders": [watch_decisions.MAX_WATCHES],
        "depth of a watched folder": [MAX_DEPTH],
        "patterns of a watch": [most_patterns["maxItems"]],
        "files of a watched folder that are left alone": [watch_decisions.MAX_PASSED],
        "page of a review": [
            file_view.MAX_DRAWN,
            gather.MAX_PICTURES,
            gather.MAX_PICTURE_BYTES,
            gather.PICTURES_S,
        ],
        "documents printed for previews at once": [renderer.PRINTS_AT_ONCE],
        "trial of a watch": [dry_run.MAX_COMPARED, dry_run.MAX_COMPARED_BYTES],
    }
    rows = {row["what"]: row["limit"] for row in tables("reference/limits.md", "Limits")[0]}

    assert limits == {what: figures(limit) for what, limit in rows.items()}
