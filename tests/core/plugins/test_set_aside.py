"""A content that keeps killing its workers is set aside by name, and nothing else is."""

import hashlib
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.set_aside import MOST_DEATHS, ContentRead, SetAsideFiles, death_of
from kbd.core.plugins.worker_messages import Exceeded, Returned, encode
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.plugins.worker_process import FinishedCall
from kbd.core.runtime.settings import Settings, WorkerLimits
from kbd.errors import FileReadFailed, KbdError, ToolTimeout
from kbd.formats import Region
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

PACKAGES = Path(__file__).with_name("packages")


def stored(folder: Path, text: str, name: str = "a.note") -> FileRef:
    """Put a text where a store keeps its blob."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = folder / digest[:2] / digest
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return FileRef(FileName(name), BlobHash(digest), len(text), path)


class CountedPool(WorkerPool):
    """Workers that count the calls for which a process was asked."""

    begun = 0

    async def _finished(self, *call: Any) -> FinishedCall:
        self.begun += 1
        return await super()._finished(*call)


@pytest.fixture
async def counted(faulty: Plugins, anyio_backend: str) -> AsyncIterator[CountedPool]:
    """Workers that can import the plugin."""
    async with CountedPool(faulty, Settings(), extra_paths=[PACKAGES]) as running:
        yield running


@pytest.fixture
def formats(faulty: Plugins, counted: CountedPool) -> FormatCalls:
    """The one format of the plugin for tests."""
    return FormatCalls(Catalog(faulty), counted)


async def fault(formats: FormatCalls, file: FileRef, deed: str = "info") -> KbdError:
    """Have a file read, which fails."""
    with pytest.raises(KbdError) as raised:
        await getattr(formats, deed)(file)
    return raised.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    "how", [f"signal {signal.SIGSEGV:d}", f"signal {signal.SIGABRT:d}", "exit 3"]
)
async def test_the_fourth_read_of_a_deadly_file_starts_no_process(
    formats: FormatCalls, counted: CountedPool, tmp_path: Path, how: str
) -> None:
    """Three deaths are told as the file's fault; then it is named, whatever is asked of it."""
    file = stored(tmp_path / "one", f"{how} times")
    for deed in ("info", "map", "info"):
        found = await fault(formats, file, deed)
        assert isinstance(found, FileReadFailed)
        assert "a.note" in found.message
        assert not found.retryable
        assert "set aside" not in found.message

    # The same bytes in another workbench, and there by another name.
    again = stored(tmp_path / "two", f"{how} times", "b.note")
    for deed in ("info", "map"):
        found = await fault(formats, again, deed)
        assert isinstance(found, FileReadFailed)
        assert found.message.startswith("b.note is set aside until kbd is restarted")
        assert found.detail == {"set_aside": True, "path": "b.note", "deaths": MOST_DEATHS}
    assert counted.begun == MOST_DEATHS
    assert [(each.path, each.deaths) for each in counted.set_aside.files()] == [("a.note", 3)]
    assert counted.set_aside.reason("b.note", file.blob) is not None
    assert (await formats.info(stored(tmp_path, "sound")))["length"] == 5


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "limit"),
    [("memory x", "memory"), pytest.param("spin x", "cpu", marks=pytest.mark.full)],
)
async def test_a_limit_counts_for_what_was_asked_alone(
    faulty: Plugins, tmp_path: Path, text: str, limit: str
) -> None:
    """A file too large for one function is still read by another that needs less."""
    settings = Settings(workers=WorkerLimits(cpu_s=1))
    async with WorkerPool(faulty, settings, extra_paths=[PACKAGES]) as workers:
        formats = FormatCalls(Catalog(faulty), workers)
        file = stored(tmp_path, text)
        for _ in range(MOST_DEATHS):
            found = await fault(formats, file)
            assert isinstance(found, ToolTimeout)
            assert found.detail == {"limit": limit}
            assert not found.retryable
        told = await fault(formats, file)
        assert "set aside" in told.message
        assert "info of plugin faults exceeded" in told.message
        assert isinstance(await fault(formats, file, "map"), ToolTimeout)


@pytest.mark.anyio
async def test_what_does_not_kill_is_never_set_aside(
    formats: FormatCalls, counted: CountedPool, tmp_path: Path
) -> None:
    """Errors, and signals from outside, are no deaths by the file."""
    for text in ("broken", f"signal {signal.SIGTERM:d}", "exit 0"):
        file = stored(tmp_path, text)
        for _ in range(MOST_DEATHS + 1):
            with pytest.raises(KbdError) as raised:
                await (formats.read(file, Region()) if text == "broken" else formats.info(file))
            assert "set aside" not in raised.value.message
    assert counted.set_aside.files() == ()


def read(*blobs: str, function: str = "w:info", plugin: str = "p 1") -> ContentRead:
    return ContentRead(plugin, function, frozenset(blobs), "a.x")


def refused(files: SetAsideFiles, asked: ContentRead) -> bool:
    try:
        files.check(asked)
    except FileReadFailed:
        return True
    return False


def test_a_pair_that_kills_is_no_verdict_on_one_of_it() -> None:
    """Two versions that are compared are set aside as a pair, one alone with all its pairs."""
    files = SetAsideFiles()
    for _ in range(MOST_DEATHS):
        files.note(read("a", "b"), "crash")
    assert refused(files, read("a", "b"))
    assert not refused(files, read("a"))
    for _ in range(MOST_DEATHS):
        files.note(read("c"), "crash")
    assert refused(files, read("c", "d"))
    assert not refused(files, read("c", plugin="p 2"))
    assert files.reason("x", "a") is None
    assert files.reason("x", "c") is not None


def test_the_memory_of_deaths_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The content that died least recently is forgotten."""
    monkeypatch.setattr("kbd.core.plugins.set_aside._MAX_REMEMBERED", 2)
    files = SetAsideFiles()
    for blob in ("a", "b", "a", "a", "c"):
        files.note(read(blob), "crash")
    assert refused(files, read("a"))
    files.note(read("d"), "crash")
    assert not refused(files, read("a"))


ENDINGS: list[tuple[bytes | None, int | None, Any]] = [
    (None, None, None),
    (None, -1, None),
    (None, 0, None),
    (None, 3 << 8, "crash"),
    (None, signal.SIGSEGV, "crash"),
    (None, signal.SIGABRT, "crash"),
    (None, signal.SIGBUS, "crash"),
    (None, signal.SIGSYS, "crash"),
    (None, signal.SIGKILL, "limit"),
    (None, signal.SIGXCPU, "limit"),
    (None, signal.SIGTERM, None),
    (encode(Exceeded("memory")), 0, "limit"),
    (encode(Exceeded("result")), 0, None),
    (encode(Returned({"x": "y" * 300})), 0, None),
    (b"\xc1", 0, None),
]


def test_how_a_process_ends_tells_whose_fault_it_is() -> None:
    """Only what a file can do by itself counts against it."""
    assert [death_of(answer, status) for answer, status, _ in ENDINGS] == [
        death for _, _, death in ENDINGS
    ]
