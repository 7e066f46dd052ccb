"""What the machine has run out of, as errors: each its code, found within whatever fails by it."""

import errno
import os

import pytest

from kbd.errors import MACHINE_FAULTS, FileReadFailed, KbdError, NotFound, ToolWorkerUnavailable
from kbd.events.disk import SyncError
from kbd.events.shortages import known_error, raise_shortage, shortage_of, told_error

CODES = {
    errno.EMFILE: "TOO_MANY_OPEN_FILES", errno.ENFILE: "TOO_MANY_OPEN_FILES",
    errno.EAGAIN: "TOO_MANY_PROCESSES", errno.ENOMEM: "OUT_OF_MEMORY", errno.ENOSPC: "DISK_FULL",
    errno.EDQUOT: "DISK_FULL",
}  # fmt: skip


def failed(number: int) -> OSError:
    """An error of the system, with a path that nobody is to be told."""
    return OSError(number, os.strerror(number), "/secret/path")


@pytest.mark.parametrize("number", CODES)
def test_each_shortage_has_its_code(number: int) -> None:
    """One sentence that says what helps, and that the same may go through later."""
    with pytest.raises(KbdError) as raised:
        raise_shortage(failed(number))
    error = raised.value
    assert (error.code, error.retryable) == (CODES[number], True)
    assert error.code in MACHINE_FAULTS
    assert error.message.endswith("then try again")
    assert "secret" not in error.message


def test_memory_and_threads_are_told_by_what_python_raises() -> None:
    """They come without a number."""
    assert (known_error(MemoryError()) or NotFound("")).code == "OUT_OF_MEMORY"
    refused = RuntimeError("can't start new thread")
    assert (known_error(refused) or NotFound("")).code == "TOO_MANY_PROCESSES"


def test_a_group_is_told_by_its_cause() -> None:
    """However deep: an error of kbd's before a shortage, and that before what the system says."""
    short, other = failed(errno.EMFILE), ValueError("/secret")
    group = ExceptionGroup("tasks", [other, ExceptionGroup("inner", [failed(errno.EIO), short])])
    assert told_error(group).code == "TOO_MANY_OPEN_FILES"
    both = ExceptionGroup("tasks", [short, NotFound("no such thing")])
    assert told_error(both).message == "no such thing"
    disk = told_error(ExceptionGroup("tasks", [failed(errno.EIO)]))
    assert isinstance(disk, FileReadFailed)
    assert disk.message == "a file of kbd's own cannot be used: Input/output error"


def test_a_fault_of_kbd_s_own_is_told_by_its_kind() -> None:
    """Not by that of the group that it comes in, and not by its text."""
    told = told_error(ExceptionGroup("tasks", [KeyError("/secret")]))
    assert isinstance(told, ToolWorkerUnavailable)
    assert told.message == "kbd failed inside (KeyError)"
    assert known_error(KeyError("/secret")) is None


def test_a_failed_sync_is_no_shortage() -> None:
    """What it covered may be lost: it must not be tried again."""
    assert shortage_of(SyncError(errno.ENOSPC, "fsync failed")) is None
