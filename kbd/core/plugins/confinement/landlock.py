"""Landlock: what a process may do with which files, held by the kernel from then on, for good.

Who restricts itself keeps what is open already; all that is opened afterwards must lie below a path
that was granted. The kernel's interface has versions, which take in more and more: version 1 holds
reading, writing, making, deleting and running; 3 truncating; 4 connections over TCP; 6 signals and
abstract sockets to processes outside.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from typing import Final

import msgspec

__all__ = [
    "LISTEN",
    "READ",
    "RUN",
    "SERVE",
    "SIGNALS_SINCE",
    "WRITE",
    "Grant",
    "find_version",
    "restrict_files",
]

# Loaded here, before a fork: each call would do it again.
_LIBC: Final = ctypes.CDLL(None, use_errno=True)

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_GET_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_EXECUTE: Final = 1 << 0
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_REMOVE_DIR: Final = 1 << 4
_REMOVE_FILE: Final = 1 << 5
_MAKE_DIR: Final = 1 << 7
_MAKE_REG: Final = 1 << 8
_MAKE_SOCK: Final = 1 << 9
_MAKE_FIFO: Final = 1 << 10
_MAKE_SYM: Final = 1 << 12
_REFER: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_IOCTL_DEV: Final = 1 << 15

_OF_A_FILE: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""Rights that can be granted on a file; all others are of folders."""

_KNOWN: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights on files that a version knows, from that version on."""

_TCP: Final = 0b11
"""Bind and connect, both granted nowhere."""

SIGNALS_SINCE: Final = 6
"""The version that knows to whom a signal goes."""

_SCOPES: Final = 0b11
"""Abstract sockets and signals, both only to processes that are confined alike."""

READ: Final = _READ_FILE | _READ_DIR
"""Read files, list folders."""

WRITE: Final = (
    READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
)
"""Make, change, move and delete files and folders; no links, pipes, sockets or devices."""

RUN: Final = READ | _EXECUTE
"""Read and run programs."""

LISTEN: Final = _MAKE_SOCK
"""Make sockets, and nothing else."""

SERVE: Final = WRITE | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
"""All that a program does in a folder of its own."""


class Grant(msgspec.Struct, frozen=True):
    """Grant of rights on a file, or on a folder and all below it.

    Args:
        path: The path; a link is followed. Of what does not exist nothing is granted.
        rights: The rights; of a file only those that a file can have.
    """

    path: str
    rights: int


def find_version() -> int:
    """Return the version of Landlock that the kernel has, or 0 if it has none, or not for us."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, _GET_VERSION)))


def restrict_files(grants: Iterable[Grant]) -> None:
    """Restrict this process, and all that it will start, to what is granted.

    It must have one thread, and no new privileges.

    Raises:
        OSError: The kernel does not take it.
    """
    version = find_version()
    known = max(rights for since, rights in _KNOWN.items() if since <= max(version, 1))
    attributes = struct.pack(
        "=QQQ", known, _TCP if version >= 4 else 0, _SCOPES if version >= SIGNALS_SINCE else 0
    )
    # A kernel takes as many fields as its version has.
    size = 8 if version < 4 else 16 if version < SIGNALS_SINCE else 24
    ruleset = _checked(_LIBC.syscall(_CREATE_RULESET, attributes[:size], size, 0))
    try:
        for grant in grants:
            _add_rule(ruleset, grant, known)
        _checked(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _add_rule(ruleset: int, grant: Grant, known: int) -> None:
    try:
        beneath = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # of what is not there nothing is granted
    try:
        rights = grant.rights & known
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _OF_A_FILE
        rule = struct.pack("=Qi", rights, beneath)
        _checked(_LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(beneath)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
