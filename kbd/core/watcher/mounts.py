"""Which folders are on another machine, where the system tells of no changes made there."""

from pathlib import Path

__all__ = ["MOUNTS", "is_remote"]

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
    """Tell whether a folder is on a network disk, or shared with another machine. Blocking.

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
        before, _, after = line.partition(b" - ")
        fields, kinds = before.split(b" "), after.split(b" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = _plain(fields[4])
        # Of two mounts on one point the later one is seen.
        if len(point) >= longest and _is_below(folder, point):
            longest, kind = len(point), kinds[0].decode("ascii", "replace")
    return kind in _REMOTE or kind.startswith("fuse.")


def _is_below(folder: str, point: str) -> bool:
    return point == "/" or folder == point or folder.startswith(f"{point}/")


def _plain(field: bytes) -> str:
    r"""Undo the escapes of blanks, tabs, line ends and backslashes, such as `\040`."""
    text = field
    for code in (b"\\040", b"\\011", b"\\012", b"\\134"):
        text = text.replace(code, bytes([int(code[1:], 8)]))
    return text.decode("utf-8", "surrogateescape")
