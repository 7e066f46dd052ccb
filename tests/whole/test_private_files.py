"""Files of a home are their owner's alone, each by its own mode, whatever the umask of the shell.

The home is 0700 besides. But a folder can be opened up by mistake, and a copy of it may not keep
its mode.
"""

import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest

from wired import Wired, wired

pytestmark = pytest.mark.full

PREFACE = """
import os, resource
os.umask(0o027)
resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""
"""The umask of whoever starts the daemon: the group may read; and the soft limit of open files."""


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """A daemon, started twice, in which everything that writes a file was used once."""
    with wired("asyncio", PREFACE, {"KBD_LIMITS_FILE_BYTES": "1000000"}) as running:
        _use(running)
        yield running


def _use(wire: Wired) -> None:
    document = wire.folder / "d.docx"
    made = docx.Document()
    made.add_paragraph("a word of it")
    made.save(str(document))
    # So long that what is derived from it is kept.
    table = "Shop,Amount\n" + "Baker,1\n" * 10_000
    bench = wire.workbench(a__txt="mine", b__csv=table)
    wire.add(bench, document)
    wire.draft(bench, out__txt="made", more__md="# made")
    named = {"workbench_id": bench}
    for method, params in (
        ("ReviewGetHtml", {"target": str(wire.folder / "review.html")}),
        ("DraftPublish", {"paths": ["out.txt"]}),
        ("WorkspaceSearch", {"query": "word"}),
        ("WorkbenchFilesExtract", {"destination_dir": str(wire.folder / "given")}),
    ):
        wire.ask(method, **named, **params)
    if shutil.which("soffice"):
        wire.ask("ReviewGetDocxPreviewPage", **named, path="d.docx", page=1)
    run_id = wire.ask("RunList", **named)["runs"][0]["run_id"]
    wire.ask("RunExport", run_id=run_id, target=str(wire.folder / "case.zip"))
    _watch(wire)
    wire.ask("BackupCreate", target=str(wire.folder / "backup"))
    wire.daemon.stop()
    wire.daemon.start()
    wire.ask("WorkbenchFilesList", **named)


def _watch(wire: Wired) -> None:
    inbox, done = wire.folder / "in", wire.folder / "umask"
    command = ["/bin/sh", "-c", f"(umask; ulimit -Sn) > {done}.part; mv {done}.part {done}"]
    inbox.mkdir()
    wire.ask(
        "WatchAdd", folder=str(inbox), prompt="write", quiet_s=0.1, publish="auto",
        deliver_to=str(wire.folder / "out"), on_outcome=command,
    )  # fmt: skip
    (inbox / "landed.txt").write_text("x")
    deadline = time.monotonic() + 40
    while not done.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def loose(top: Path) -> list[str]:
    """Return what others than its owner may do something with."""
    return [
        f"{path.relative_to(top)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in sorted(top.rglob("*"))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]


def test_nobody_else_may_read_a_file_of_the_home(wire: Wired) -> None:
    """Logs, versions, snapshots, caches, the search index, previews, copies for readers, marks."""
    home = wire.daemon.home
    found = {path.parent.name for path in home.rglob("*") if path.is_file()}
    assert {"log", "published", "draft", "cache", "workshop", "receipts"} <= found
    assert loose(home) == []
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_archives_and_pages_of_the_daemon_are_its_owners_alone(wire: Wired) -> None:
    """A case file, a backup and a page hold more than a result does."""
    for given in ("case.zip", "backup", "review.html"):
        path = wire.folder / given
        assert path.exists()
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, given
        assert loose(path) == []


def test_results_have_the_users_umask(wire: Wired) -> None:
    """An outbox may be shared: extracted and delivered files are as if the user had made them."""
    for given in ("given", "out"):
        files = [path for path in (wire.folder / given).rglob("*") if path.is_file()]
        assert files
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o640}, given


def test_a_rules_command_has_the_users_umask_and_limit(wire: Wired) -> None:
    """What it writes for others, they can read; of the limit that the daemon raised it has none."""
    umask, soft = (wire.folder / "umask").read_text().split()
    assert (int(umask, 8), int(soft)) == (0o027, 300)


def test_files_of_an_older_kbd_are_tightened_when_they_are_opened(wire: Wired) -> None:
    """The daemon's at its start, a workbench's when it is opened: each once."""
    bench = wire.workbench(a__txt="mine")
    wire.daemon.stop()
    home = wire.daemon.home
    (home / "settings.toml").write_text("")
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o044)
    wire.daemon.start()
    assert loose(home / "daemon") == []
    assert loose(home / "landed") == []
    for name in ("settings.toml", "kbd.lock"):
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
    wire.ask("WorkbenchFilesList", workbench_id=bench)
    assert loose(home / "workbenches" / bench) == []
    assert wire.ask("LogVerify", workbench_id=bench)["ok"]
    for each in (home / "workbenches").iterdir():
        wire.ask("WorkbenchFilesList", workbench_id=each.name)
    assert loose(home / "workbenches") == []
