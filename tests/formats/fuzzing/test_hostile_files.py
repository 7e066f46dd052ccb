"""Every file of the list of threats is answered as it is due, by the daemon, in modest memory.

Each is added to a workbench and asked for by the tools that a model has, in a real daemon; and all
that its format offers is done to it in processes that tell what they took. Run with `-s` to see the
table.
"""

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import pytest
from anyio.from_thread import start_blocking_portal

from confined import Confined, confined
from format_cases import FormatCase
from hostile_files import APART, HOSTILE, Hostile
from kbd.client.blocking import RemoteError
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from kbd.errors import KbdError
from kbd.formats import Region
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName
from measured_pool import MeasuredPool
from office_formats import FORMATS
from real_daemon import RealDaemon

SMALL_BYTES = 1 << 20
MOST_BYTES = 1_100 << 20
"""A worker has 1,536 MiB of address space, of which its libraries take some."""

SMALL_CPU_S = 15.0
"""A file below a megabyte; a worker has 30 s."""

DEEDS = (
    "info", "map", "read", "passages", "objects", "read_table", "get_styles", "preview", "apply",
)  # fmt: skip

pytestmark = pytest.mark.full


class Row(NamedTuple):
    """A row of the table: a file, how it was answered, and what that took.

    Args:
        number: Its number in the list of threats.
        what: What it is.
        name: What it is called.
        size: In bytes.
        map: How its map is answered.
        read: How its text is.
        flag: What is flagged of it.
        seconds: What both took, by the daemon.
        cpu_s: The longest processor time of a call, whatever is done to it.
        peak_bytes: The most memory that a worker had for its map or its text.
    """

    number: str
    what: str
    name: str
    size: int
    map: str
    read: str
    flag: str
    seconds: float
    cpu_s: float
    peak_bytes: int


class Ward:
    """A daemon for hostile files, and for each format a process that opens them."""

    def __init__(self, daemon: RealDaemon, stack: ExitStack, folder: Path) -> None:
        self.daemon, self._stack, self._folder = daemon, stack, folder
        self._cells: dict[str, Confined] = {}
        self.rows: list[Row] = []
        settings = Settings()
        self._plugins = Plugins.discover(settings)
        self._portal = stack.enter_context(start_blocking_portal("asyncio"))
        pool = MeasuredPool(self._plugins, settings)
        self._pool = stack.enter_context(self._portal.wrap_async_context_manager(pool))

    def worker_peak(self, hostile: Hostile, data: bytes) -> int:
        """Have a worker map and read a file; return the most memory that it had."""
        path = self._folder / hashlib.sha256(data).hexdigest()
        path.write_bytes(data)
        file = FileRef(FileName(hostile.name), BlobHash(path.name), len(data), path)
        formats = FormatCalls(Catalog(self._plugins), self._pool)
        self._pool.peak_bytes = 0
        for call in (formats.map, lambda file: formats.read(file, Region())):
            with contextlib.suppress(KbdError):
                self._portal.call(call, file)
        path.unlink()
        return self._pool.peak_bytes

    def asked(self, tool: str, workbench_id: str, name: str) -> tuple[str, str]:
        """Call a tool on a file, and return the verdict and the text of its answer."""
        arguments = {"path": name}
        try:
            found: Any = self.daemon.ask(
                "ToolsCall", workbench_id=workbench_id, name=tool, arguments=arguments
            )
        except RemoteError as error:
            code = error.data["error_code"]
            return ("retryable" if error.data.get("retryable") else code), str(error)
        return "ok", str(found)

    def taken(self, hostile: Hostile, data: bytes) -> tuple[float, int]:
        """Do all to a file; return the longest processor time and the highest peak of a call."""
        case = case_of(hostile.name)
        handler, edits = case.handler, getattr(case, "tried", ())
        cell = self._cells.get(handler.name)
        if cell is None:
            cell = self._stack.enter_context(confined(type(handler), DEEDS, edits))
            self._cells[handler.name] = cell
        path = self._folder / "blob"
        path.write_bytes(data)
        able = [each for each in DEEDS if hasattr(handler, each)]
        answers = cell.run(path, hostile.name, able)
        for deed, answer in answers.items():
            assert answer.kind in ("returned", "refused"), (deed, answer)
            assert str(self._folder) not in answer.text, (deed, answer)
        return (
            max(answer.cpu_s for answer in answers.values()),
            max(answer.peak_bytes for answer in answers.values()),
        )


def case_of(name: str) -> FormatCase:
    """Return the format of a file by its suffix."""
    suffix = PurePath(name).suffix
    return next(case for case in FORMATS if suffix in case.handler.suffixes)


@pytest.fixture(scope="module")
def ward() -> Iterator[Ward]:
    """The daemon, which is still well afterwards; then the table is printed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kbd-")))
        daemon = RealDaemon(folder / "h", "asyncio")
        daemon.start()
        stack.callback(daemon.stop)
        found = Ward(daemon, stack, folder)
        yield found
        status = daemon.ask("ToolWorkerGetStatus")
        assert status["available"]
        assert "set_aside" not in status, status
    print(f"\n{'':5}{'input':42}{'':8}{'bytes':>12}  {'answer':50}{'s':>7}{'cpu s':>7}  MiB")
    for row in sorted(found.rows, key=lambda row: (row.number[0], int(row.number[1:]))):
        answer = row.map if row.map == row.read else f"{row.map}, read {row.read}"
        answer += f": {row.flag}" if row.flag else ""
        print(
            f"{row.number:5}{row.what[:41]:42}{row.name:8}{row.size:12,}  {answer[:49]:50}"
            f"{row.seconds:7.1f}{row.cpu_s:7.1f}{row.peak_bytes >> 20:5}"
        )
    for number, reason in APART.items():
        print(f"{number:5}{reason}")


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: " ".join(each[:3]))
def test_a_hostile_file_is_answered_as_it_is_due(hostile: Hostile, ward: Ward) -> None:
    """With its verdict and words, by the tools; and nothing that is done to it gets out of hand."""
    data = hostile.build()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, hostile.name)
        path.write_bytes(data)
        workbench_id = ward.daemon.workbench(path)
    start = time.monotonic()
    mapped, told = ward.asked("get_file_map", workbench_id, hostile.name)
    read, text = ward.asked("read_file", workbench_id, hostile.name)
    seconds = time.monotonic() - start
    cpu_s, most_bytes = ward.taken(hostile, data)
    peak_bytes = ward.worker_peak(hostile, data)
    ward.rows.append(
        Row(hostile.number, hostile.what, hostile.name, len(data), mapped, read, hostile.flag,
            seconds, cpu_s, peak_bytes)
    )  # fmt: skip

    assert mapped == hostile.verdict, told
    assert hostile.word in (text if hostile.verdict == "ok" else told)
    assert hostile.flag in told + text
    assert "root:" not in told + text
    assert read in {"ok", "FILE_READ_FAILED", "VALIDATION_FAILED"}, text
    assert max(peak_bytes, most_bytes) <= MOST_BYTES
    assert cpu_s <= SMALL_CPU_S or len(data) > SMALL_BYTES


def test_each_number_of_the_list_has_a_file() -> None:
    """C1 to C50 and D1 to D30, or a reason why one has none."""
    wanted = {f"C{number}" for number in range(1, 51)} | {f"D{number}" for number in range(1, 31)}
    assert {each.number for each in HOSTILE} | APART.keys() == wanted
