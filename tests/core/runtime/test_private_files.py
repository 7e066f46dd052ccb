"""Files that an older kbd wrote for others to read are tightened once, and nothing else is."""

import os
import stat
from pathlib import Path

import pytest

from kbd.core.runtime.private_files import tighten, tighten_files


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A folder as a kbd of before left it, and files of a person's beside it."""
    for name in ("bench/log", "bench/published/sub", "bench/blobs/ab", "theirs"):
        (tmp_path / name).mkdir(parents=True)
    modes = {
        "bench/log/0.kbl": 0o644, "bench/log/9.kbl": 0o644, "bench/published/sub/a.txt": 0o664,
        "bench/blobs/ab/1": 0o444, "bench/published/run": 0o755, "theirs/a.txt": 0o644,
        "theirs/b.txt": 0o644,
    }  # fmt: skip
    for name, mode in modes.items():
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)
    (tmp_path / "bench" / "published" / "linked").symlink_to(tmp_path / "theirs")
    (tmp_path / "bench" / "published" / "a.txt").symlink_to(tmp_path / "theirs" / "a.txt")
    (tmp_path / "bench" / "published" / "b.txt").hardlink_to(tmp_path / "theirs" / "b.txt")
    os.mkfifo(tmp_path / "bench" / "published" / "pipe", 0o644)
    return tmp_path / "bench"


def test_all_files_are_tightened_once(bench: Path) -> None:
    """Others' rights go, the owner's stay; what leads elsewhere is left, and no pipe hangs it."""
    assert tighten(bench / "log", bench) == 5
    assert [_mode(bench / "log" / name) for name in ("0.kbl", "9.kbl")] == [0o600, 0o600]
    assert _mode(bench / "published" / "sub" / "a.txt") == 0o600
    assert _mode(bench / "published" / "run") == 0o700
    assert _mode(bench / "blobs" / "ab" / "1") == 0o400
    for name in ("a.txt", "b.txt"):
        assert _mode(bench.parent / "theirs" / name) == 0o644
    # It is not walked again: a file that somebody opens up on purpose stays so.
    (bench / "published" / "run").chmod(0o755)
    assert tighten(bench / "log", bench) == 0
    assert _mode(bench / "published" / "run") == 0o755


def test_one_that_was_cut_off_is_begun_anew(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells that there is something to do is changed last."""
    real = os.fchmod
    done: list[int] = []

    def dies(held: int, mode: int) -> None:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(held)
        real(held, mode)

    monkeypatch.setattr(os, "fchmod", dies)
    with pytest.raises(KeyboardInterrupt):
        tighten(bench / "log", bench)
    monkeypatch.undo()
    assert tighten(bench / "log", bench) == 2
    assert _mode(bench / "log" / "0.kbl") == 0o600


def test_a_folder_without_a_log_is_left(tmp_path: Path) -> None:
    """One that is being made has nothing of an older kbd, and a link is no log."""
    (tmp_path / "log").mkdir()
    assert tighten(tmp_path / "none", tmp_path) == 0
    assert tighten(tmp_path / "log", tmp_path) == 0
    (tmp_path / "log" / "0.kbl").symlink_to("/etc/hostname")
    assert tighten(tmp_path / "log", tmp_path) == 0


def test_files_at_the_top_are_tightened_each_time(tmp_path: Path) -> None:
    """Settings that an editor saved, a lock of an older kbd; a link of a person's is left alone."""
    theirs = tmp_path / "theirs.toml"
    for name in ("settings.toml", "kbd.lock", "theirs.toml"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o644)
    (tmp_path / "linked.toml").symlink_to(theirs)
    for _ in range(2):
        tighten_files(tmp_path, ("settings.toml", "kbd.lock", "linked.toml", "missing"))
        assert [_mode(tmp_path / name) for name in ("settings.toml", "kbd.lock")] == [0o600] * 2
        assert _mode(theirs) == 0o644
        (tmp_path / "settings.toml").chmod(0o664)
