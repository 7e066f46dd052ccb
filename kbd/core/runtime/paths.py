"""Paths of kbd's data: the home folder, the socket, the folders of each workbench.

    $KBD_HOME/                      0700
      settings.toml
      kbd.sock                      0600
      metrics.sock                  0600, if the settings want it
      kbd.lock                      held for the daemon's life
      daemon/log/ daemon/snap/
      daemon/index.sqlite3          what lists show of workbenches and runs; a projection
      daemon/daemon.log             the log of a daemon in the background; .1 and on are older
      daemon/traces/                runs whose traces are still to be sent
      daemon/output                 what is written past its log, until it is told there
      landed/<watch id>/            copies of what landed in watched folders, until it is worked on
      archives/                     workbenches that are packed: kbd.core.store.archive_shelf
      workbenches/<16 hex digits>/
        log/ blobs/ published/ draft/ stage/ snap/ cache/ meta/workshop/ open
        forking

Nothing else in the core joins a workbench's id to a path, so an id is checked in one place.
"""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kbd.core.runtime.folder_trees import remove_empty
from kbd.errors import NotFound, ValidationFailed
from kbd.events.disk import Disk
from kbd.types import WatchId, WorkbenchId

__all__ = [
    "ARCHIVE_SUFFIX",
    "OWN_UMASK",
    "SOCKET_PATH_BYTES",
    "Home",
    "WorkbenchFolders",
    "checked_id",
]

SOCKET_PATH_BYTES = 107
"""What `sockaddr_un` holds on Linux, without its closing NUL."""

OWN_UMASK = 0o077
"""The umask by which files are their owner's alone."""

ARCHIVE_SUFFIX = ".tar.gz"
"""The end of an archive's name, behind the id of its workbench."""

_ID = re.compile(r"[0-9a-f]{16}")
_FOLDER_NAME = re.compile(r"[0-9A-Za-z_-]{1,64}")
_PARTS = ("log", "blobs", "published", "stage", "cache")
"""What there is while a workbench is open; the others are made by whoever puts something there."""
_EMPTIED = ("draft", "snap", "cache/shelves", "cache", "meta/workshop", "meta")
"""What a closed workbench has only if something lies there, the inner ones first."""


def checked_id(text: str) -> WorkbenchId:
    """Return a workbench's id after checking its form.

    Raises:
        ValidationFailed: It is not 16 lower-case hex digits.
    """
    # An id becomes a path that is deleted with all below it: in a comparable system the id "." took
    # all workbenches along (facts/traps.md B 13).
    if not _ID.fullmatch(text):
        msg = "a workbench id is 16 hex digits"
        raise ValidationFailed(msg)
    return WorkbenchId(text)


class WorkbenchFolders(msgspec.Struct, frozen=True):
    """The folders of one workbench. Made by `Home.workbench`, which checks the id.

    Args:
        id: Its id.
        root: Its folder.
        umask: As in `Home`.
    """

    id: WorkbenchId
    root: Path
    umask: int = OWN_UMASK

    def find_home(self) -> Path:
        """Return the home that it lies in."""
        return self.root.parent.parent

    @property
    def log(self) -> Path:
        """The segments of its log."""
        return self.root / "log"

    @property
    def blobs(self) -> Path:
        """File contents by their hash."""
        return self.root / "blobs"

    @property
    def published(self) -> Path:
        """The files as the user accepted them."""
        return self.root / "published"

    @property
    def draft(self) -> Path:
        """The files as a run changed them; a projection."""
        return self.root / "draft"

    @property
    def stage(self) -> Path:
        """Files that are being written."""
        return self.root / "stage"

    @property
    def snap(self) -> Path:
        """Snapshots of state; a cache."""
        return self.root / "snap"

    @property
    def cache(self) -> Path:
        """Derived files: maps, tables; a cache."""
        return self.root / "cache"

    @property
    def open_mark(self) -> Path:
        """Is there while the workbench is open: one that a crash left is recovered at start."""
        return self.root / "open"

    @property
    def fork_mark(self) -> Path:
        """Is there while the workbench is made of another: what a crash left of one is removed."""
        return self.root / "forking"

    @property
    def workshop(self) -> Path:
        """Readable copies of conversation and plan; a projection."""
        return self.root / "meta" / "workshop"

    @property
    def receipts(self) -> Path:
        """Readable copies of the receipts of publishes; a projection."""
        return self.root / "meta" / "receipts"

    def create(self) -> None:
        """Make the folders of an open workbench; they and others that exist are 0700 then."""
        _private(self.root)
        for part in _PARTS:
            _private(self.root / part)
        for part in _EMPTIED:
            # Of what comes and goes, too: none may be a link, or open to others.
            if os.path.lexists(self.root / part):
                _private(self.root / part)

    def remove_empty(self, disk: Disk) -> None:
        """Remove folders in which nothing lies; one that cannot be removed stays.

        Each takes as much of the disk as a small file does.
        """
        for part in _EMPTIED:
            remove_empty(self.root / part, disk)

    def exists(self) -> bool:
        """Return whether the workbench has a folder."""
        return self.log.is_dir()


class Home(msgspec.Struct, frozen=True):
    """The home folder of one daemon and its socket.

    Args:
        folder: `$KBD_HOME`, absolute.
        socket: Where the daemon listens.
        umask: What results that are led out are made with: that of the user who started the daemon.
            What lies in the home is its owner's alone whatever it is.
    """

    folder: Path
    socket: Path
    umask: int = OWN_UMASK

    @classmethod
    def find(
        cls,
        environment: Mapping[str, str],
        *,
        socket: str | None = None,
        home: str | None = None,
        umask: int = OWN_UMASK,
    ) -> "Home":
        """Resolve both paths; nothing is created.

        Args:
            environment: `KBD_HOME`, `XDG_DATA_HOME`, `HOME` and `KBD_SOCKET` are read from it.
            socket: What `--socket` says; wins over `KBD_SOCKET`.
            home: What `--home` says; wins over `KBD_HOME`.
            umask: That of the user.

        Raises:
            ValidationFailed: The socket's path is longer than the system can hold.
        """
        folder = _folder(environment, home)
        path = Path(socket or environment.get("KBD_SOCKET") or folder / "kbd.sock").absolute()
        size = len(os.fsencode(path))
        if size > SOCKET_PATH_BYTES:
            msg = (
                f"the socket's path has {size} bytes and the system allows {SOCKET_PATH_BYTES}; "
                "set KBD_SOCKET, or --socket, to a shorter path"
            )
            raise ValidationFailed(msg)
        return cls(folder, path, umask)

    @property
    def settings_file(self) -> Path:
        """The settings file, which need not exist."""
        return self.folder / "settings.toml"

    @property
    def lock_file(self) -> Path:
        """The file that a daemon holds locked for its life."""
        return self.folder / "kbd.lock"

    @property
    def daemon_log(self) -> Path:
        """The daemon's own log."""
        return self.folder / "daemon" / "log"

    @property
    def metrics_socket(self) -> Path:
        """The socket that answers Prometheus, if the settings want it."""
        return self.folder / "metrics.sock"

    @property
    def operator_log(self) -> Path:
        """The log of a daemon in the background, for its operator."""
        return self.folder / "daemon" / "daemon.log"

    @property
    def unsent_traces(self) -> Path:
        """The folder with a mark for each run whose trace is still to be sent."""
        return self.folder / "daemon" / "traces"

    @property
    def daemon_output(self) -> Path:
        """What libraries write past the daemon's log, until it is told there."""
        return self.folder / "daemon" / "output"

    @property
    def running_plugin(self) -> Path:
        """The plugin whose code runs in the daemon; what its next start looks at."""
        return self.folder / "daemon" / "plugin"

    @property
    def daemon_snap(self) -> Path:
        """The snapshots of its state."""
        return self.folder / "daemon" / "snap"

    @property
    def index_file(self) -> Path:
        """The index of workbenches and runs; a projection."""
        return self.folder / "daemon" / "index.sqlite3"

    @property
    def workbenches(self) -> Path:
        """The folder of all workbenches."""
        return self.folder / "workbenches"

    @property
    def archives(self) -> Path:
        """The folder of the archives of workbenches; it need not exist."""
        return self.folder / "archives"

    def archive(self, workbench_id: str) -> Path:
        """Return the file that a workbench is packed in, if it is.

        Raises:
            ValidationFailed: The id is ill-formed.
        """
        return self.archives / f"{checked_id(workbench_id)}{ARCHIVE_SUFFIX}"

    def landed(self, watch_id: WatchId) -> Path:
        """Folder of the copies of landed files, until a run has worked on them.

        Raises:
            ValidationFailed: The id is no name of a folder.
        """
        # Out of a log, which may have come with a backup; and the folder is removed with all that
        # is in it.
        if not _FOLDER_NAME.fullmatch(watch_id):
            msg = "a watch id is 16 hex digits"
            raise ValidationFailed(msg)
        return self.landings / watch_id

    @property
    def landings(self) -> Path:
        """The folder of all that landed."""
        return self.folder / "landed"

    def create(self) -> None:
        """Make the home and its folders, each 0700.

        Raises:
            ValidationFailed: A folder belongs to another user, or is not a folder.
        """
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        for folder in (
            self.folder, self.daemon_log.parent, self.daemon_log, self.workbenches, self.landings
        ):  # fmt: skip
            _private(folder)

    def workbench(self, workbench_id: str) -> WorkbenchFolders:
        """Return the folders of a workbench, existing or not.

        Raises:
            ValidationFailed: The id is ill-formed.
        """
        checked = checked_id(workbench_id)
        return WorkbenchFolders(checked, self.workbenches / checked, self.umask)

    def existing(self, workbench_id: str) -> WorkbenchFolders:
        """Return the folders of a workbench that is there.

        Raises:
            ValidationFailed: The id is ill-formed.
            NotFound: There is no such workbench.
        """
        folders = self.workbench(workbench_id)
        if not folders.exists():
            msg = f"there is no workbench {workbench_id}"
            raise NotFound(msg)
        return folders

    def workbench_ids(self) -> tuple[WorkbenchId, ...]:
        """Return the ids of the workbenches that are there, sorted; other names are skipped."""
        if not self.workbenches.is_dir():
            return ()
        # Not Path.iterdir, whose is_dir is a call to the system for each of ten thousand.
        with os.scandir(self.workbenches) as entries:
            names = sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))
        return tuple(WorkbenchId(name) for name in names if _ID.fullmatch(name))


def _folder(environment: Mapping[str, str], home: str | None) -> Path:
    named = home or environment.get("KBD_HOME")
    if named:
        return Path(named).expanduser().absolute()
    data = environment.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path there is to be ignored.
    base = Path(data) if data.startswith("/") else Path("~/.local/share").expanduser()
    return base.absolute() / "kbd"


def _private(folder: Path) -> None:
    """Make a folder that only its owner can enter, or tighten one that exists."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        pass  # what it is instead is said below
    # Not followed: a link may lead to a folder of somebody else's.
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        msg = f"{folder.name} in the home of kbd is not a folder"
        raise ValidationFailed(msg)
    # Its owner could give the mode back, and replace what lies in it.
    if found.st_uid != os.geteuid():
        msg = f"the folder {folder.name} of kbd belongs to another user; set KBD_HOME to your own"
        raise ValidationFailed(msg)
    # One that was there before keeps its mode in `mkdir`.
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
