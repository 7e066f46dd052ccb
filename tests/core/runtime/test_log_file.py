"""The file of the daemon's own log: rotated, bounded, and whole, whatever the disk does."""

import json
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from kbd.core.runtime.diagnostics import configure
from kbd.core.runtime.log_file import LogFile


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Other tests find structlog as it was."""
    yield
    structlog.reset_defaults()


def entry(number: int) -> str:
    """An entry of ten characters."""
    return f"[{number:07}]\n"


def numbers(path: Path) -> list[int]:
    """The entries of a file, each of which is whole."""
    return [int(line.strip("[]")) for line in path.read_text().splitlines()]


def kept(folder: Path) -> dict[str, list[int]]:
    """All files with their entries."""
    return {path.name: numbers(path) for path in sorted(folder.iterdir())}


def test_a_file_that_is_full_becomes_the_first_of_the_older_ones(tmp_path: Path) -> None:
    """The oldest goes; nothing else is lost, and all are their owner's alone."""
    log = LogFile(tmp_path / "log", file_bytes=30, files=2)
    for number in range(11):
        log.write(entry(number))

    assert kept(tmp_path) == {"log": [9, 10], "log.1": [6, 7, 8], "log.2": [3, 4, 5]}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_a_later_process_goes_on_where_one_ended(tmp_path: Path) -> None:
    """What is there counts."""
    for number in range(5):
        LogFile(tmp_path / "log", file_bytes=30, files=2).write(entry(number))

    assert kept(tmp_path) == {"log": [3, 4], "log.1": [0, 1, 2]}


def test_no_older_file_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    """Also those that other settings kept."""
    log = LogFile(tmp_path / "log", file_bytes=30, files=3)
    for number in range(11):
        log.write(entry(number))
    log = LogFile(tmp_path / "log", file_bytes=30, files=0)
    for number in range(11, 14):
        log.write(entry(number))

    assert kept(tmp_path) == {"log": [12, 13]}


def test_an_entry_longer_than_a_file_is_written_whole(tmp_path: Path) -> None:
    """Into a file of its own."""
    log = LogFile(tmp_path / "log", file_bytes=30, files=2)
    for text in ("a\n", "b" * 100 + "\n", "c\n"):
        log.write(text)

    assert (tmp_path / "log.1").read_text() == "b" * 100 + "\n"
    assert (tmp_path / "log").read_text() == "c\n"


@pytest.mark.parametrize("harm", ["deleted", "renamed", "emptied"])
def test_a_file_that_somebody_takes_away_is_made_anew(tmp_path: Path, harm: str) -> None:
    """The next entry is in a file of that name, as after logrotate."""
    path = tmp_path / "log"
    log = LogFile(path, file_bytes=1000, files=2)
    log.write(entry(1))
    if harm == "emptied":
        os.truncate(path, 0)
    elif harm == "renamed":
        path.rename(tmp_path / "taken")
    else:
        path.unlink()
    log.write(entry(2))

    assert numbers(path) == [2]


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_no_file_is_not_written(tmp_path: Path, what: str) -> None:
    """An entry is lost rather than led elsewhere or waited for; then the daemon goes on."""
    path, elsewhere = tmp_path / "log", tmp_path / "elsewhere"
    if what == "link":
        path.symlink_to(elsewhere)
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    log = LogFile(path, file_bytes=1000, files=2)
    with pytest.raises(OSError):  # noqa: PT011 - each has its own
        log.write(entry(1))

    configure(log, json=True)
    structlog.get_logger().info("goes on")
    assert not elsewhere.exists()


def test_a_log_that_cannot_be_rotated_is_emptied_and_says_so(tmp_path: Path) -> None:
    """It does not grow for ever."""
    (tmp_path / "log.1" / "in the way").mkdir(parents=True)
    log = LogFile(tmp_path / "log", file_bytes=300, files=1)
    for number in range(100):
        log.write(entry(number))
        assert (tmp_path / "log").stat().st_size <= 300
    first, *rest = (tmp_path / "log").read_text().splitlines()

    assert json.loads(first)["event"] == "log_emptied"
    assert json.loads(first)["reason"].startswith("it could not be rotated: ")
    assert rest[-1] == entry(99).strip()


def test_no_entry_is_half_there(tmp_path: Path) -> None:
    """Where there is room for a part of it, it is lost, and the next one that has room is there."""
    path = tmp_path / "log"
    log = LogFile(path, file_bytes=1000, files=2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log.write(entry(1))
    # The system writes what has room, and tells how much that was, as on a disk that is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (25, hard))
    try:
        log.write(entry(2))
        for number in (3, 4):
            with pytest.raises(OSError, match="room"):
                log.write(entry(number))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    log.write(entry(5))

    assert numbers(path) == [1, 2, 5]
