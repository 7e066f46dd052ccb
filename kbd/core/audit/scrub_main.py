"""Process of the scrubber, `python -m kbd.core.audit.scrub_main HOME`: verifies logs and blobs.

It takes one request after the other on its standard input, answers on its standard output
(`kbd.core.sessions.scrub.messages`), and changes nothing. It has the lowest priority that there is.
When it is told to pause it stops within the quarter of a megabyte that it reads, wherever it is,
and goes on there. It ends when the daemon is gone, which the end of its standard input says.
"""

import contextlib
import errno
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import FrameType
from typing import BinaryIO, NoReturn, assert_never

import msgspec

from kbd.core.audit.home_logs import found_damage, verify_home_log
from kbd.core.domain.found_damage import FoundDamage
from kbd.core.runtime.paths import Home
from kbd.core.sessions.scrub.messages import (
    LENGTH,
    BlobsReached,
    LogScrubbed,
    ScrubAnswer,
    ScrubLog,
    ScrubRequest,
    ScrubTurn,
)
from kbd.errors import FileReadFailed, KbdError, NotFound
from kbd.events.anchor import Anchor
from kbd.events.blobs import BlobStore, BlobVerification
from kbd.events.checked_blobs import BlobDamaged
from kbd.types import BlobHash

__all__ = ["main", "scrub_log"]

PROGRESS_BYTES = 64 * 1024 * 1024
"""After so many bytes it tells how far it has come: what a kill makes it read again."""

MAX_SUSPECTS = 100
"""So many are carried on; a folder of blobs that is gone is one story."""

_NICENESS = 19

_PASSING = frozenset(
    {
        errno.EBUSY, errno.EINTR, errno.ETXTBSY, errno.ESTALE, errno.ETIMEDOUT, errno.ENODEV,
        errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH,
    }
)  # fmt: skip
"""What the system says of a file that cannot be read just now; of its bytes it says nothing."""

Tell = Callable[[ScrubAnswer], None]


class _UnreadError(Exception):
    """Something cannot be read just now; the text says why."""


def main(folder: str, requests: int, answers: BinaryIO) -> NoReturn:
    """Verify what is asked for, for ever; the process ends with its standard input.

    Args:
        folder: `$KBD_HOME`.
        requests: The descriptor that has the requests.
        answers: Takes the answers.
    """
    _yield_to_all()
    gate = _Gate()
    wanted: SimpleQueue[ScrubLog] = SimpleQueue()
    Thread(target=_take_requests, args=(requests, wanted, gate), daemon=True).start()
    home = Home(Path(folder), Path(folder) / "kbd.sock")

    def tell(answer: ScrubAnswer) -> None:
        packed = msgspec.msgpack.encode(answer)
        answers.write(LENGTH.pack(len(packed)) + packed)
        answers.flush()

    while True:
        tell(scrub_log(home, wanted.get(), tell))


def _yield_to_all() -> None:
    """Give way to everything else that wants a processor or the disk, where the system lets us."""
    os.nice(_NICENESS)
    # Its reads are idle ones then, too: the system derives the one from the other (ioprio_set(2)).
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class _Gate:
    """Gate that holds the main thread wherever it is, closed and opened by another thread.

    A signal's handler is run in the main thread between any two steps of Python, so also between
    two pieces of a file that is hashed. It waits for a byte in a pipe, which it leaves there: so it
    may be called again while it waits.
    """

    def __init__(self) -> None:
        self._opened, self._opener = os.pipe()
        self._is_open = False
        signal.signal(signal.SIGUSR1, self._wait)
        self.release()

    def release(self) -> None:
        """Let the main thread go on."""
        if not self._is_open:
            os.write(self._opener, b".")
        self._is_open = True

    def hold(self) -> None:
        """Hold the main thread."""
        if self._is_open:
            os.read(self._opened, 1)
        self._is_open = False
        signal.raise_signal(signal.SIGUSR1)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        select.select([self._opened], [], [])


def _take_requests(requests: int, wanted: SimpleQueue[ScrubLog], gate: _Gate) -> None:
    """Take requests until there are no more; then the process ends, whatever it is doing."""
    while length := _read_exactly(requests, LENGTH.size):
        packed = _read_exactly(requests, LENGTH.unpack(length)[0])
        request: ScrubRequest = msgspec.msgpack.decode(packed, type=ScrubRequest)
        match request:
            case ScrubLog():
                wanted.put(request)
            case ScrubTurn(to="pause"):
                gate.hold()
            case ScrubTurn():
                gate.release()
            case _:
                assert_never(request)
    os._exit(0)


def _read_exactly(requests: int, size: int) -> bytes:
    """Return so many bytes; fewer at the end of the input."""
    found = b""
    while len(found) < size and (part := os.read(requests, size - len(found))):
        found += part
    return found


def scrub_log(home: Home, request: ScrubLog, tell: Tell) -> LogScrubbed:
    """Verify a log and its blobs as `kbd verify` does; return what is wrong. Blocks.

    Args:
        home: The home; its daemon may have the log open.
        request: Which log, and from where on.
        tell: Takes how far it has come.
    """
    meter = _Progress(request, tell)
    try:
        # Of one that is gone on with the log was counted before, though it is read again.
        meter.add(0 if request.reached else _size_bytes(home, request))
        found = verify_home_log(
            home,
            request.log_id,
            durable=Anchor(*request.durable) if request.durable is not None else None,
            open_blobs=lambda blobs: _ScrubbedStore(blobs, meter),
            archive=request.archive,
            scratch=home.archives / "reading",
        )
    except NotFound:
        reason = "the workbench has no folder, though the daemon's log names it"
        return LogScrubbed(meter.take(), (FoundDamage("missing", "log", reason=reason),))
    except FileReadFailed as error:
        if _is_passing(error.__cause__):
            return LogScrubbed(meter.take(), unread=error.message)
        return LogScrubbed(meter.take(), (FoundDamage("damaged", "log", reason=error.message),))
    except (KbdError, _UnreadError) as error:
        # The machine lacks something.
        return LogScrubbed(meter.take(), unread=str(error))
    return LogScrubbed(meter.take(), found_damage(found.faults))


def _size_bytes(home: Home, request: ScrubLog) -> int:
    """Return the size of a log, or of the archive that it is in; 0 if it cannot be read."""
    if request.archive is not None:
        return request.archive.size_bytes
    folder = home.daemon_log if request.log_id == "daemon" else home.workbench(request.log_id).log
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sum(each.stat(follow_symlinks=False).st_size for each in entries)
    return 0


class _Progress:
    """Progress of a verification: how far it has come, and how much was read.

    Args:
        request: What is verified.
        tell: Takes it now and then.

    Attributes:
        reached: The last blob that was looked at.
    """

    def __init__(self, request: ScrubLog, tell: Tell) -> None:
        self.reached = request.reached
        self._suspects = dict.fromkeys(request.suspects)
        self._tell, self._size_bytes = tell, 0

    def is_due(self, blob: BlobHash) -> bool:
        """Return whether a blob is to be looked at."""
        return blob > self.reached or blob in self._suspects

    def add(self, size_bytes: int) -> None:
        """Count bytes that are read."""
        self._size_bytes += size_bytes

    def take(self) -> int:
        """Return the bytes that were not told of yet."""
        size_bytes, self._size_bytes = self._size_bytes, 0
        return size_bytes

    def pass_by(self, blob: BlobHash, *, is_whole: bool) -> None:
        """Note that a blob was looked at."""
        if is_whole:
            self._suspects.pop(blob, None)
        elif len(self._suspects) < MAX_SUSPECTS:
            self._suspects[blob] = None
        self.reached = max(self.reached, blob)
        if self._size_bytes >= PROGRESS_BYTES:
            self._tell(BlobsReached(self.reached, tuple(self._suspects), self.take()))


class _ScrubbedStore(BlobStore):
    """The blobs of a workbench, verified one after the other from where it was interrupted.

    Args:
        directory: Where they lie.
        progress: How far it has come.
    """

    def __init__(self, directory: Path, progress: _Progress) -> None:
        super().__init__(directory)
        self._progress = progress

    def verify(self, named: Iterable[BlobHash] | None = None) -> BlobVerification:
        """Verify blobs as the store does.

        Raises:
            _UnreadError: One cannot be read just now.
        """
        assert named is not None, "a log says which it names"
        checked, damaged, missing = 0, list[BlobHash](), list[BlobHash]()
        # What is due first: whether it is changes on the way.
        for blob in [each for each in sorted(set(named)) if self._progress.is_due(each)]:
            found = super().verify((blob,))
            if found.damaged:
                self._check_lasting(blob)
            checked += found.checked
            damaged += found.damaged
            missing += found.missing
            with contextlib.suppress(KbdError):
                self._progress.add(self.size(blob))
            self._progress.pass_by(blob, is_whole=not found.damaged and not found.missing)
        return BlobVerification(checked, tuple(damaged), tuple(missing))

    def _check_lasting(self, blob: BlobHash) -> None:
        """Raise _UnreadError if a blob is only not to be read just now."""
        try:
            self.check(blob)
        except BlobDamaged as error:
            if _is_passing(error.__cause__):
                raise _UnreadError(error.message) from error
        except NotFound:
            pass  # It went meanwhile; whoever asked knows whether the workbench did.


def _is_passing(cause: BaseException | None) -> bool:
    return isinstance(cause, OSError) and cause.errno in _PASSING


if __name__ == "__main__":
    main(sys.argv[1], sys.stdin.fileno(), sys.stdout.buffer)
