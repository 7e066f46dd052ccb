"""Damage anywhere in a home: kbd starts, says what is wrong, loses nothing else, is repaired.

A seed chooses one file of the home and one harm to it. Facts (logs and file versions) come back
from a backup to the byte; of everything else kbd makes a new one by itself. The second tier tries
a few seeds; `pytest -m soak` a thousand.
"""

import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kbd.cli import main
from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

SEEDS, FEW = 1000, 12

ARCHIVES_TURN = 4
"""Of so many seeds one harms an archive."""

_LEFT_ALONE = frozenset({"kbd.sock", "kbd.lock", "daemon.log", "output", "plugin"})
"""What is no file of facts or of a projection: a socket, a lock, diagnostics."""


class Home(NamedTuple):
    """A home that was stopped in order, and a backup of it.

    Attributes:
        folder: The home.
        backup: The backup.
        workbenches: The ids of its workbenches.
        archived: Those that are packed.
        files: The files that are published in each, with their bytes.
    """

    folder: Path
    backup: Path
    workbenches: tuple[str, ...]
    archived: tuple[str, ...]
    files: dict[str, dict[str, bytes]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Make the home once: workbenches with files, an undone checkpoint, a run that was answered.

    The last two are archived.
    """
    folder = Path(f"/tmp/kbd-seeds-{os.getpid()}-{random.randrange(10**6)}")
    folder.mkdir(mode=0o700)
    source = tmp_path_factory.mktemp("source")
    daemon = RealDaemon(folder / "h")
    daemon.start()
    ids = []
    for number in range(5):
        workbench_id = daemon.ask("WorkbenchCreate", name=f"w{number}")["workbench_id"]
        ids.append(workbench_id)
        for name in ("a.csv", "b.txt")[: number + 1]:
            (source / name).write_text(f"Shop,Amount\nBaker,{number}\nMiller,{len(name)}\n")
            named = {"workbench_id": workbench_id, "source_paths": [str(source / name)]}
            daemon.ask("WorkbenchFilesAdd", **named)
        daemon.ask("CheckpointCreate", workbench_id=workbench_id, description="as it was")
        daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="count rows")
        run = {"workbench_id": workbench_id, "model_id": "offline:planner", "wait": True}
        daemon.ask("WorkshopRunAgent", **run)
    archived = tuple(ids[3:])
    for workbench_id in archived:
        daemon.ask("WorkbenchArchive", workbench_id=workbench_id)
    daemon.ask("BackupCreate", target=str(folder / "backup"))
    assert daemon.stop() == 0
    files = {
        each: {
            path.name: path.read_bytes()
            for path in (folder / "h" / "workbenches" / each / "published").iterdir()
        }
        for each in ids[:3]
    }
    yield Home(folder / "h", folder / "backup", tuple(ids), archived, files)
    shutil.rmtree(folder)


def _flip(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        # Not in the zeros that are reserved at the end, which are nothing.
        data[draw.randrange(max(1, len(data.rstrip(b"\0"))))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def _truncate(path: Path, draw: random.Random) -> None:
    data = path.read_bytes().rstrip(b"\0")
    path.write_bytes(data[: draw.randrange(max(1, len(data)))])


def _remove(path: Path, draw: random.Random) -> None:
    del draw
    path.unlink()


def _empty(path: Path, draw: random.Random) -> None:
    del draw
    path.write_bytes(b"")


def _garbage(path: Path, draw: random.Random) -> None:
    path.write_bytes(draw.randbytes(path.stat().st_size or 100))


def _no_file(path: Path, draw: random.Random) -> None:
    del draw
    path.unlink()
    path.mkdir()


HARMS: tuple[Callable[[Path, random.Random], None], ...] = (
    _flip, _truncate, _remove, _empty, _garbage, _no_file
)  # fmt: skip


def _swap(path: Path, draw: random.Random, others: list[Path]) -> None:
    """Put another file's bytes there."""
    path.write_bytes(draw.choice(others).read_bytes())


def _facts(folder: Path) -> dict[str, str]:
    """Return the digests of all facts of a home: logs up to their end, and file versions."""
    found: dict[str, str] = {}
    logs = ("daemon/log/*.kbl", "workbenches/*/log/*.kbl")
    for pattern in (*logs, "workbenches/*/blobs/*", "archives/*.tar.gz"):
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                data = path.read_bytes()
                data = data.rstrip(b"\0") if path.suffix == ".kbl" else data
                found[str(path.relative_to(folder))] = hashlib.sha256(data).hexdigest()
    return found


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.full if seed < FEW else pytest.mark.soak)
        for seed in range(SEEDS)
    ],
)
def test_damage_is_told_and_mended(
    home: Home,
    seed: int,
    short_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One file of the home is harmed: it starts, nothing else is lost, and a backup mends it."""
    draw = random.Random(seed)
    copy = short_dir / "h"
    shutil.copytree(home.folder, copy, ignore=shutil.ignore_patterns("kbd.sock"))
    files = sorted(
        path for path in copy.rglob("*") if path.is_file() and path.name not in _LEFT_ALONE
    )
    # There are few of them, and each is much of a home.
    archives = [path for path in files if path.parent.name == "archives"]
    victim = draw.choice(files if seed % ARCHIVES_TURN else archives)
    shown = f"{victim.relative_to(copy)}"
    before = _facts(home.folder)
    harm = draw.choice((*HARMS, None))
    if harm is None:
        _swap(victim, draw, [path for path in files if path != victim])
    else:
        harm(victim, draw)
    was_fact = shown in before
    is_harmed = was_fact and _facts(copy).get(shown) != before[shown]
    daemon = RealDaemon(copy)
    daemon.start()
    try:
        rows = {row["id"]: row for row in daemon.ask("WorkbenchList")["workbenches"]}
        assert set(rows) == set(home.workbenches), shown
        for workbench_id in home.workbenches:
            if workbench_id not in home.archived:
                _read_all(daemon, workbench_id)
            elif is_harmed and workbench_id in shown:
                _expect_refusal(daemon, workbench_id)
            else:
                assert daemon.events(workbench_id), shown
    finally:
        assert daemon.stop() == 0, shown
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(copy))
    told = main(("verify",))
    assert told in (0, 1), shown
    if is_harmed and not _is_mended_by_itself(copy, shown, before):
        assert told == 1, f"{shown}: {capsys.readouterr().out}"
    is_proven = _repair(home, shown, capsys)
    _expect_facts(home, copy, shown, is_proven=is_proven)
    for workbench_id, published in home.files.items():
        for name, data in published.items():
            path = copy / "workbenches" / workbench_id / "published" / name
            # What a person did to it by hand is theirs, and is seen, not undone.
            if path != victim:
                assert path.read_bytes() == data, f"{shown}: {name}"


def _repair(home: Home, shown: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Mend a home by its backup; return whether it took no person's word."""
    asked = ("repair", "--from", str(home.backup))
    is_proven = main(asked) == 0
    if not is_proven:
        # Nothing is left of the log that could show whose backup it is: a person says so.
        assert "/log/" in shown, f"{shown}: {capsys.readouterr()}"
        assert main((*asked, "--cut", "--yes")) == 0, f"{shown}: {capsys.readouterr()}"
    assert main(("verify",)) == 0, f"{shown}: {capsys.readouterr().out}"
    return is_proven


def _expect_facts(home: Home, copy: Path, shown: str, *, is_proven: bool) -> None:
    """Expect that all facts are there to the byte; what was recorded since stands behind them."""
    after = _facts(copy)
    for name, digest in _facts(home.folder).items():
        if name.endswith(".kbl"):
            source = home.folder if is_proven or name != shown else home.backup
            whole = (source / name).read_bytes().rstrip(b"\0")
            assert (copy / name).read_bytes().startswith(whole), f"{shown}: {name}"
        else:
            assert after.get(name) == digest, f"{shown}: {name}"


def _is_mended_by_itself(copy: Path, shown: str, before: dict[str, str]) -> bool:
    """Return whether the start has made a fact right: a version whose bytes are published."""
    return _facts(copy).get(shown) == before[shown]


def _expect_refusal(daemon: RealDaemon, workbench_id: str) -> None:
    """Expect that a damaged archive is neither opened nor read, for a reason that says so."""
    for method, more in (("EventsRead", {"limit": 10}), ("WorkbenchOpen", {})):
        with pytest.raises(RemoteError) as refused:
            daemon.ask(method, workbench_id=workbench_id, **more)
        assert refused.value.error_code == "FILE_READ_FAILED"


def _read_all(daemon: RealDaemon, workbench_id: str) -> None:
    """Read what can be read of a workbench; what cannot be is refused with a code."""
    for method in ("WorkbenchOpen", "WorkbenchFilesList", "WorkshopGetConversation"):
        try:
            daemon.ask(method, workbench_id=workbench_id)
        except RemoteError as refused:
            assert refused.error_code not in ("", "INTERNAL"), f"{method}: {refused}"  # noqa: PT017
