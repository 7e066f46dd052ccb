"""Documents that an office program prints: once, one at a time, within limits, and to its end."""

import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd.core.plugins import renderer
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.print_job import PROFILE
from kbd.core.plugins.renderer import PrintedDocuments, Renderer, _socket_name
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.fairness import serve_for
from kbd.core.runtime.settings import PreviewLimits, Settings, WorkerLimits
from kbd.errors import (
    FileReadFailed,
    KbdError,
    ToolTimeout,
    ToolWorkerUnavailable,
    ValidationFailed,
)
from kbd.formats import Preview
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

pytestmark = pytest.mark.anyio

PACKAGES = Path(__file__).with_name("packages")
FAKE = Path(__file__).with_name("fake_renderer.py")


class Desk:
    """A workbench's formats with a program that prints, in a folder of its own."""

    def __init__(self, folder: Path, plugins: Plugins, workers: WorkerPool) -> None:
        self.folder, self._plugins, self._workers = folder, plugins, workers
        self.program = folder / "bin" / "fakeoffice"
        self.program.parent.mkdir()
        self.program.write_text(f"#!{sys.executable} -S\n{FAKE.read_text()}")
        self.program.chmod(0o700)
        self.stage = folder / "stage"
        self.stage.mkdir()

    def formats(self, renderer: Renderer | None = None, **limits: Any) -> FormatCalls:
        """The formats of a daemon, with limits of the program."""
        settings = Settings(preview_renderer=str(self.program), preview=PreviewLimits(**limits))
        printer = renderer or Renderer(settings)
        printed = PrintedDocuments(printer, self._workers, self.folder / "cache", self.stage)
        return FormatCalls(Catalog(self._plugins), self._workers, self.folder / "cache", printed)

    def file(self, text: str, name: str = "a.memo") -> FileRef:
        """A file that holds a text."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        path = self.folder / digest
        path.write_text(text)
        return FileRef(FileName(name), BlobHash(digest), len(text), path)

    def diary(self) -> list[str]:
        """What the program has noted."""
        path = self.program.with_name("diary")
        return path.read_text().splitlines() if path.exists() else []

    def begun(self) -> int:
        """How often the program was started."""
        return sum(line.startswith("begin") for line in self.diary())

    def processes(self) -> list[int]:
        """The program's processes, and those that it started."""
        lines = [line for line in self.diary() if line.startswith(("begin", "child"))]
        return [int(line.rpartition(" ")[2]) for line in lines]

    async def noted(self, start: str, times: int = 1) -> None:
        """Wait until the diary has so many lines that start so."""
        while sum(line.startswith(start) for line in self.diary()) < times:  # noqa: ASYNC110 - a file
            await anyio.sleep(0.01)

    def left(self) -> list[str]:
        """What is left of all that was being written."""
        return os.listdir(self.stage)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """The plugin kbd_prints, loaded as an installed one would be."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
    return Plugins.discover(Settings(), found=[EntryPoint("prints", "kbd_prints")])


@pytest.fixture
async def desk(plugins: Plugins, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Desk]:
    """A workbench whose documents are printed by the program for tests.

    Without layers of the operating system, for that program keeps a diary in its own folder.
    """
    settings = Settings(workers=WorkerLimits(sandbox="off"))
    async with WorkerPool(plugins, settings, extra_paths=[PACKAGES]) as workers:
        yield Desk(tmp_path, plugins, workers)


def is_gone(pid: int) -> bool:
    """Whether a process is dead; one that is not reaped yet is."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


async def all_gone(pids: list[int]) -> None:
    """Wait until processes are dead."""
    while not all(map(is_gone, pids)):  # noqa: ASYNC110 - others' processes
        await anyio.sleep(0.01)


async def test_a_document_is_printed_once(desk: Desk) -> None:
    """All its pages are shown of that, under any name of the format and by the next daemon, too."""
    file, formats = desk.file("3 pages"), desk.formats()
    shown = [await formats.preview(file, index, 100) for index in range(3)]
    again = await desk.formats().preview(desk.file("3 pages", "b.MEMO"), 1, 50)
    other = await desk.formats().preview(desk.file("3 pages", "b.memox"), 1, 50)

    assert [page.data for page in shown] == [
        b"page 0 of document.memo", b"page 1 of document.memo", b"page 2 of document.memo",
    ]  # fmt: skip
    assert (shown[0].count, shown[0].width) == (3, 100)
    assert (again.data, again.width) == (b"page 1 of document.memo", 50)
    # By the suffix the program knows how to read it.
    assert other.data == b"page 1 of document.memox"
    assert desk.begun() == 2
    assert desk.left() == []


async def test_what_has_printed_it_is_said(desk: Desk) -> None:
    """By the program's name, without its folder, beside what the printed document warns of."""
    warnings = (await desk.formats().preview(desk.file("1 page"), 0, 100)).warnings

    assert warnings[0] == "Made."
    assert warnings[1].startswith("Printed by fakeoffice: ")
    assert str(desk.folder) not in "".join(warnings)


async def test_a_document_is_printed_into_a_file(desk: Desk) -> None:
    """Of the same print as its pages, as often as it is asked for; what to know of it is said."""
    file, formats = desk.file("3 pages"), desk.formats()
    await formats.preview(file, 0, 100)
    made = await formats.print(file, desk.folder / "first.plate")
    again = await formats.print(file, desk.folder / "second.plate")

    lines = (desk.folder / "first.plate").read_text().splitlines()
    assert lines == [f"page {number} of document.memo" for number in range(3)]
    assert (desk.folder / "second.plate").read_text().splitlines() == lines
    assert (made.page_count, made.program) == (3, "fakeoffice")
    assert made == again
    assert made.warnings[0].startswith("Printed by fakeoffice: ")
    assert made.warnings[1:] == (
        "What the file only links to (pictures, sections, data) is not fetched.",
        "Ink is not printed.",
    )
    assert desk.begun() == 1


async def test_what_no_program_prints_is_not_printed_into_a_file(desk: Desk) -> None:
    """A printed document itself, and a damaged file, which the program never gets."""
    with pytest.raises(ValidationFailed, match="be printed"):
        await desk.formats().print(desk.file("page", "a.plate"), desk.folder / "made")
    with pytest.raises(FileReadFailed, match="is damaged"):
        await desk.formats().print(desk.file("damaged"), desk.folder / "made")

    assert desk.begun() == 0
    assert not (desk.folder / "made").exists()


async def test_a_page_that_is_not_there_is_refused(desk: Desk) -> None:
    """As by the format that shows it; the printed document stays."""
    with pytest.raises(ValidationFailed, match="there are 3 pages"):
        await desk.formats().preview(desk.file("3 pages"), 3, 100)
    await desk.formats().preview(desk.file("3 pages"), 0, 100)

    assert desk.begun() == 1


async def test_another_program_prints_anew(desk: Desk) -> None:
    """After an update, pages that the old one printed are not shown."""
    await desk.formats().preview(desk.file("1 page"), 0, 100)
    desk.program.write_text(desk.program.read_text() + "\n# A newer version.\n")
    await desk.formats().preview(desk.file("1 page"), 0, 100)

    assert desk.begun() == 2


async def test_the_cache_is_bounded(desk: Desk) -> None:
    """The least recently used goes, and is printed again when it is wanted."""
    formats = desk.formats(cache_bytes=40)
    first, second = desk.file("1 first"), desk.file("1 second")
    for file in (first, second, first):
        await formats.preview(file, 0, 100)

    assert len(os.listdir(desk.folder / "cache" / "printed")) == 1
    assert desk.begun() == 3


async def test_requests_that_wait_share_one_print(desk: Desk) -> None:
    """The program is run once for them all."""
    formats, file, found = desk.formats(), desk.file("3 until go"), list[Preview]()

    async def ask(index: int) -> None:
        found.append(await formats.preview(file, index, 100))

    async with anyio.create_task_group() as tasks:
        for index in range(3):
            tasks.start_soon(ask, index)
        await desk.noted("begin")
        desk.program.with_name("go").touch()

    assert len({page.data for page in found}) == 3
    assert desk.begun() == 1


async def test_one_document_is_printed_at_a_time(desk: Desk) -> None:
    """By all workbenches of a daemon; the next waits until the first is done."""
    renderer = Renderer(Settings(preview_renderer=str(desk.program)))

    async def ask(text: str) -> None:
        await desk.formats(renderer).preview(desk.file(text), 0, 100)

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(ask, f"{number + 1} pages")

    assert [line.partition(" ")[0] for line in desk.diary()] == ["begin", "end"] * 4


@pytest.mark.full
async def test_clients_take_turns_for_the_program(desk: Desk) -> None:
    """Who asks for many documents does not have others wait until all of them are printed."""
    renderer = Renderer(Settings(preview_renderer=str(desk.program)))
    served: list[int] = []

    async def ask(client: int, text: str) -> None:
        serve_for(client)
        await desk.formats(renderer).preview(desk.file(text), 0, 100)
        served.append(client)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, 1, "1 until go")
        await desk.noted("begin")
        for number in range(2, 4):
            tasks.start_soon(ask, 1, f"{number} pages")
        waiting = renderer.turns._waiting
        while len(waiting.get(1, ())) < 2:  # noqa: ASYNC110 - other tasks'
            await anyio.sleep(0.01)
        tasks.start_soon(ask, 2, "4 pages")
        while 2 not in waiting:  # noqa: ASYNC110 - another task's
            await anyio.sleep(0.01)
        desk.program.with_name("go").touch()

    # After the one that came first, and one more whose turn it was.
    assert served == [1, 1, 2, 1]


async def test_who_is_cancelled_leaves_the_print_to_the_next(desk: Desk) -> None:
    """The program of the one is killed, and run anew for the other."""
    formats, file, found = desk.formats(), desk.file("3 until go"), list[Preview]()
    first = anyio.CancelScope()

    async def ask_first() -> None:
        with first:
            await formats.preview(file, 0, 100)

    async def ask_second() -> None:
        found.append(await formats.preview(file, 1, 100))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask_first)
        await desk.noted("begin")
        tasks.start_soon(ask_second)
        first.cancel()
        await desk.noted("begin", 2)
        assert is_gone(desk.processes()[0])
        desk.program.with_name("go").touch()

    assert first.cancelled_caught
    assert found[0].data == b"page 1 of document.memo"
    assert desk.left() == []


async def test_a_cancel_kills_the_program_with_what_it_started(desk: Desk) -> None:
    """Nothing of it is left, on the disk neither, and the next document is printed."""
    formats = desk.formats()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(formats.preview, desk.file("1 sleep"), 0, 100)
        await desk.noted("child")
        tasks.cancel_scope.cancel()

    await all_gone(desk.processes())
    assert desk.left() == []
    assert (await formats.preview(desk.file("1 page"), 0, 100)).count == 1


async def test_a_program_that_hangs_is_killed(desk: Desk) -> None:
    """After its time, with what it started; the error says so."""
    with pytest.raises(ToolTimeout, match=r"fakeoffice: print a\.memo was stopped after 2 s"):
        await desk.formats(wall_s=2.0).preview(desk.file("1 sleep"), 0, 100)

    await all_gone(desk.processes())
    assert desk.left() == []


@pytest.mark.full
async def test_a_document_that_hangs_does_not_cost_its_time_for_each_page(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next ones get the same error at once, until a while has passed; others are printed."""
    settings = Settings(preview_renderer=str(desk.program), preview=PreviewLimits(wall_s=1.0))
    formats = desk.formats(Renderer(settings))
    errors = []
    for page in range(3):
        with pytest.raises(ToolTimeout) as raised:
            await formats.preview(desk.file("1 sleep"), page, 100)
        errors.append(raised.value.message)

    assert len(set(errors)) == 1
    assert desk.begun() == 1
    assert (await formats.preview(desk.file("1 page"), 0, 100)).count == 1
    monkeypatch.setattr(renderer, "RETRY_AFTER_S", 0.0)
    with pytest.raises(ToolTimeout):
        await formats.preview(desk.file("1 sleep"), 0, 100)
    assert desk.begun() == 3


async def test_a_process_that_it_leaves_behind_is_killed(desk: Desk) -> None:
    """Even in a session of its own; the printed document counts."""
    shown = await desk.formats().preview(desk.file("2 orphan"), 1, 100)

    assert shown.count == 2
    await all_gone(desk.processes())


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        ("1 huge", {"file_bytes": 3 << 20}, "file"),
        ("1 spin", {"cpu_s": 1}, "cpu"),
    ],
)
async def test_a_limit_that_is_passed_is_named(
    desk: Desk, text: str, limits: dict[str, Any], limit: str
) -> None:
    """The size of the printed document, the time of the processor."""
    with pytest.raises(ToolTimeout) as raised:
        await desk.formats(**limits).preview(desk.file(text), 0, 100)

    assert raised.value.detail == {"limit": limit}
    assert "fakeoffice" in raised.value.message
    await all_gone(desk.processes())
    assert desk.left() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 crash", "could not be printed by fakeoffice, which was ended by SIGSEGV"),
        ("1 fail", "could not be printed by fakeoffice, which ended with status 3"),
        ("1 hoard", "could not be printed by fakeoffice, which ended with status 1"),
        ("1 nothing", "which ended with status 0 and no document"),
        ("1 link", "which ended with status 0 and no document"),
        ("1 away", "has left something that is no document"),
        ("some torn", "is no document that can be shown"),
    ],
)
async def test_a_print_that_fails_is_told(desk: Desk, text: str, reason: str) -> None:
    """Without a path, and without what the program printed; nothing is kept of it."""
    with pytest.raises(FileReadFailed, match=reason) as raised:
        await desk.formats().preview(desk.file(text), 0, 100)

    assert "a.memo" in raised.value.message
    assert str(desk.folder) not in f"{raised.value.message} {raised.value.detail}"
    assert raised.value.detail == {}
    assert not (desk.folder / "cache" / "printed").exists()
    assert desk.left() == []


async def test_who_waits_for_a_print_that_fails_gets_the_error(desk: Desk) -> None:
    """The program is not run again for each of them, but for who asks later."""
    formats, file, errors = desk.formats(), desk.file("1 crash"), list[KbdError]()

    async def ask() -> None:
        with pytest.raises(FileReadFailed) as raised:
            await formats.preview(file, 0, 100)
        errors.append(raised.value)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)

    assert (len(errors), desk.begun()) == (3, 1)
    await ask()
    assert desk.begun() == 2


async def test_a_program_may_print_much_to_its_terminal(desk: Desk) -> None:
    """It is read to its end, and the program never waits."""
    assert (await desk.formats().preview(desk.file("1 chatter"), 0, 100)).count == 1


async def test_a_damaged_file_never_gets_to_the_program(desk: Desk) -> None:
    """Its own format refuses it, in its own words."""
    with pytest.raises(FileReadFailed, match=r"a\.memo is damaged"):
        await desk.formats().preview(desk.file("damaged"), 0, 100)

    assert desk.begun() == 0


async def test_pages_that_are_missing_are_told(desk: Desk) -> None:
    """A program that leaves hidden slides out would show another slide than the one asked for."""
    fewer = desk.program.read_text().replace("range(count)", "range(count - 1)")
    desk.program.write_text(fewer)
    with pytest.raises(FileReadFailed, match=r"printed 2 pages of a\.memo, which has 3"):
        await desk.formats().preview(desk.file("3 pages"), 0, 100)

    # Of a file that does not know its pages, as many as were printed are right.
    assert (await desk.formats().preview(desk.file("some pages"), 0, 100)).count == 1


async def test_the_program_is_on_its_own(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sees a copy, a new profile without macros and links, no variable of kbd's, no network."""
    monkeypatch.setenv("KBD_SECRET", "sk-1")
    await desk.formats().preview(desk.file("1 tell"), 0, 100)
    facts = json.loads(desk.program.with_name("facts").read_text())
    folder = Path(facts["document"]).parent

    assert (folder.parent, facts["links"]) == (desk.stage, 1)
    assert facts["convert"] == "plate:memo_plate_Export:{all}"
    environment = facts["environment"]
    assert environment.keys() <= {
        "PATH", "TZ", "HOME", "TMPDIR", "LC_ALL", "SAL_USE_VCLPLUGIN", "XDG_DATA_HOME", "LC_CTYPE",
    }  # fmt: skip
    assert {environment["HOME"], environment["TMPDIR"]} == {f"{folder}/home", f"{folder}/tmp"}
    for path, values in PROFILE.items():
        for name, value in values.items():
            assert f'Office.{path}"><prop oor:name="{name}"' in facts["profile"]
            assert f"<value>{value}</value>" in facts["profile"]
    # Where the system does not allow it, it stays in the network: no test can say which.
    assert facts["interfaces"] in (["lo"], [name for _, name in _interfaces()])
    assert facts["files"] == 64


def _interfaces() -> list[tuple[int, str]]:
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return [(number, line.partition(":")[0].strip()) for number, line in enumerate(lines)]


Set = Callable[[Path], str]

MISSING: dict[str, tuple[Set, str]] = {
    "turned off": (lambda folder: "none", "preview_renderer is none"),
    "no such program": (lambda folder: "no-such-office", "'no-such-office' is not a program"),
    "no such path": (lambda folder: str(folder / "no-office"), "'no-office' is not a program"),
    "a folder": (str, "is not a program"),
    "a path from nowhere": (lambda folder: "bin/fakeoffice", "takes an absolute path"),
    "nothing installed": (lambda folder: "", "install LibreOffice, or name another"),
}


@pytest.mark.parametrize("case", MISSING)
async def test_without_a_program_it_is_said_what_helps(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """With a code, without a path; whatever is wrong, asking again does not help."""
    named, reason = MISSING[case]
    monkeypatch.setenv("PATH", str(desk.folder))
    renderer = Renderer(Settings(preview_renderer=named(desk.folder)))
    with pytest.raises(ToolWorkerUnavailable, match=reason) as raised:
        await desk.formats(renderer).preview(desk.file("1 page"), 0, 100)

    error = raised.value
    assert (error.code, error.retryable) == ("TOOL_WORKER_UNAVAILABLE", False)
    assert str(desk.folder) not in f"{error.message} {error.actions}"
    assert "preview_renderer" in error.message


async def test_a_program_is_found_by_its_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the search path; LibreOffice under its own names, the one before the other."""
    folder = desk.program.parent
    monkeypatch.setenv("PATH", str(folder))
    assert Renderer(Settings(preview_renderer="fakeoffice")).find().path == desk.program
    for name in ("libreoffice", "soffice"):
        (folder / name).symlink_to(desk.program)
        assert Renderer(Settings()).find().name == name


def test_the_socket_of_a_killed_program_is_known() -> None:
    """As LibreOffice 7.4 named it for this profile."""
    name = f"OSL_PIPE_{os.getuid()}_SingleOfficeIPC_71a8fe8536c1270e4af5e668f8675"

    assert _socket_name("file:///tmp/prev/pz185") == name


async def test_without_what_shows_it_nothing_is_printed(desk: Desk, plugins: Plugins) -> None:
    """Where no workbench lends its printed documents, the format has no pictures."""
    bare = FormatCalls(Catalog(plugins), desk._workers)
    with pytest.raises(ValidationFailed, match="cannot be shown as a picture"):
        await bare.preview(desk.file("1 page"), 0, 100)

    assert desk.begun() == 0
