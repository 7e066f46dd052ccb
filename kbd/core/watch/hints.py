"""Change notifications of a watched folder, through watchfiles. A hint; the truth is a scan.

A thread of its own listens. Where the system does not tell (network disks, where changes are made
on another machine), or cannot (its limits are used up, a name is no text), the reason is kept, and
listening is tried again after a pause; the folder is scanned more often meanwhile. Nothing is told
of a folder that takes the place of another one: whoever sees that has to call `restart`.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio import CancelScope, CapacityLimiter, from_thread
from anyio.to_thread import run_sync

from kbd.core.runtime.event_loop import Notifier
from kbd.core.watch.tree import is_temporary

__all__ = ["MOUNTS", "ChangeHints", "OnChange", "is_remote"]

MOUNTS = Path("/proc/self/mountinfo")
"""Where the system lists what is mounted (proc_pid_mountinfo(5))."""

_REMOTE = frozenset(
    {
        "9p", "acfs", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "drvfs", "fuse", "gfs",
        "gfs2", "gluster", "glusterfs", "gpfs", "lustre", "ncp", "ncpfs", "nfs", "nfs4", "ocfs2",
        "orangefs", "panfs", "prl_fs", "pvfs2", "smb", "smb2", "smb3", "smbfs", "sshfs", "vboxsf",
        "virtiofs", "vmhgfs", "webdav",
    }
)  # fmt: skip
"""Kinds of file systems whose content others change. Any `fuse.…` is held for one of them."""


def is_remote(folder: str, mounts: Path = MOUNTS) -> bool:
    """Return whether a folder is on a network disk, or shared with another machine. Blocking.

    Args:
        folder: An absolute path without links in it.
        mounts: The list of mounts; where there is none, no folder is remote.
    """
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return False
    longest, kind = -1, ""
    for line in lines:
        # Any number of optional fields comes first; a lone hyphen ends them, and the kind of file
        # system is the first field behind it (proc_pid_mountinfo(5)).
        before, _, after = line.partition(b" - ")
        fields, kinds = before.split(b" "), after.split(b" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = _unescape(fields[4])
        # Of two mounts on one point the later one is seen.
        if len(point) >= longest and _is_below(folder, point):
            longest, kind = len(point), kinds[0].decode("ascii", "replace")
    return kind in _REMOTE or kind.startswith("fuse.")


def _is_below(folder: str, point: str) -> bool:
    return point == "/" or folder == point or folder.startswith(f"{point}/")


def _unescape(field: bytes) -> str:
    r"""Undo the escapes of blanks, tabs, line ends and backslashes, such as `\040`."""
    text = field
    # The backslash last: one that comes out of `\134` must not begin another escape.
    for code in (b"\\040", b"\\011", b"\\012", b"\\134"):
        text = text.replace(code, bytes([int(code[1:], 8)]))
    return text.decode("utf-8", "surrogateescape")


OnChange = Callable[[tuple[str, ...] | None], None]
"""Told of raw paths below the folder where something is new; None if it may be anywhere."""

_FEW = 4000
"""More changes at once may mean that others were dropped: the system keeps 16,384 (reliability,
section 2.6), and each file makes some four."""

_DEBOUNCE_STEP_MS = 100
"""Changes are told when there were no more for so long; stopping takes as long, too."""

_DEBOUNCE_MS = 400
"""They are told at the latest after this."""

_STARTUP_MS = 500
"""Nothing is known of the moment when listening begins; after this without a change it has."""

_FIRST_PAUSE_S, _MAX_PAUSE_S = 1.0, 60.0


class ChangeHints:
    """Listens for changes in one folder.

    Args:
        folder: An absolute path without links in it.
        on_change: Told what is heard, in the event loop.

    Attributes:
        is_listening: Whether the system tells of changes now.
        reason: Why not, or "".
    """

    def __init__(self, folder: str, on_change: OnChange) -> None:
        self._folder, self._on_change = folder, on_change
        self.is_listening, self.reason = False, ""
        # One that hangs keeps its own thread, and no other's.
        self._thread = CapacityLimiter(1)
        self._scope = CancelScope()
        self._restarted = Notifier()

    async def run(self) -> None:
        """Listen for ever; takes about a step to stop."""
        pause_s = _FIRST_PAUSE_S
        while True:
            rings, began_s = self._restarted.rings, anyio.current_time()
            with CancelScope() as self._scope:
                self.reason = await self._listen()
            self._set_listening(is_listening=False)
            if anyio.current_time() - began_s > _MAX_PAUSE_S:
                pause_s = _FIRST_PAUSE_S
            with anyio.move_on_after(pause_s):
                await self._restarted.wait(rings)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)
            if self._restarted.rings > rings:
                pause_s = _FIRST_PAUSE_S

    def restart(self) -> None:
        """Restart listening: the folder is another one now."""
        self._restarted.ring()
        self._scope.cancel()

    def _set_listening(self, *, is_listening: bool) -> None:
        """Set whether changes are reported; in either case some may have been missed."""
        if is_listening:
            self.reason = ""
        if is_listening != self.is_listening:
            self.is_listening = is_listening
            self._on_change(None)

    async def _listen(self) -> str:
        """Listen until it fails; return why."""
        stop = threading.Event()

        async def stop_if_canceled() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                stop.set()

        reason = ""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_if_canceled)
            # The thread is waited for: it tells the loop, which must be there as long.
            with CancelScope(shield=True):
                reason = await run_sync(self._watch_changes, stop, limiter=self._thread)
            tasks.cancel_scope.cancel()
        return reason

    def _watch_changes(self, stop: threading.Event) -> str:
        if _forces_polling():
            return "WATCHFILES_FORCE_POLLING is set"
        if is_remote(self._folder):
            return "the system does not tell of changes on a network disk"
        from watchfiles import Change, watch  # noqa: PLC0415 - 62 ms without any watch

        try:
            for changes in watch(
                self._folder,
                # The library's own filter drops folders by their names; which names count is for
                # the inbox to say.
                watch_filter=None,
                debounce=_DEBOUNCE_MS,
                step=_DEBOUNCE_STEP_MS,
                stop_event=stop,
                # The default of 5 s is also how long a stop may block: 2.9 s were seen.
                rust_timeout=_STARTUP_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                # A scan takes its place: polling missed a replacement within one tick.
                force_polling=False,
                # One folder that is closed to reading must not end the hints of all others.
                ignore_permission_denied=True,
            ):
                if stop.is_set():
                    break
                news = {path for change, path in changes if change is not Change.deleted}
                self._report(news, len(changes))
                if (Change.deleted, self._folder) in changes:
                    # One that is made again at once may have the same inode, but nobody listens.
                    return "the folder was removed"
        except FileNotFoundError:
            return "the folder is not there"
        except (RuntimeError, OSError) as error:
            # Its own error is a RuntimeError: too many watches, or a name that is no text.
            why = str(error).replace(self._folder, "the folder")
            return f"the system does not tell of changes: {why}"
        return "" if stop.is_set() else "the system told of no more changes"

    def _report(self, news: set[str], count: int) -> None:
        """Report changes, and, with the first sign of life, that listening began."""
        if not self.is_listening:
            from_thread.run_sync(lambda: self._set_listening(is_listening=True))
        if count > _FEW:
            from_thread.run_sync(self._on_change, None)
            return
        raw = [os.path.relpath(path, self._folder) for path in news]
        reported = tuple(path for path in raw if not any(map(is_temporary, path.split("/"))))
        if reported:
            from_thread.run_sync(self._on_change, reported)


def _forces_polling() -> bool:
    """Return whether the environment forces polling, by the variable of watchfiles itself."""
    setting = os.environ.get("WATCHFILES_FORCE_POLLING", "").lower()
    return setting not in ("", "0", "false", "disable", "disabled")
