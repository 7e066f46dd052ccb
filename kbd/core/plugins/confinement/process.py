"""Confinement of one worker call: what it can reach when `confine_process` has returned.

It is done while the process has one thread, and before it has read anything that a client, a model
or a file could have written.
"""

import contextlib
import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from kbd.core.plugins.confinement.landlock import (
    LISTEN,
    READ,
    RUN,
    SERVE,
    SIGNALS_SINCE,
    WRITE,
    Grant,
    find_version,
    restrict_files,
)
from kbd.core.plugins.confinement.layers import Layers
from kbd.core.plugins.confinement.syscall_filter import (
    CallFilter,
    install_filter,
    program_filter,
)
from kbd.core.plugins.confinement.syscall_numbers import find_machine

__all__ = [
    "CallReach",
    "Filters",
    "Software",
    "confine_process",
    "find_filters",
    "find_software",
    "hide_process",
    "leave_network",
    "take_orphans",
]

# Loaded here, before a fork: each call would do it again.
_LIBC: Final = ctypes.CDLL(None)

_SYSTEM: Final = ("/usr", "/lib", "/lib64", "/lib32", "/nix/store")
"""Folders of the system's own software: libraries, time zones, fonts."""

_FACTS: Final = (
    "/etc/ld.so.cache", "/etc/localtime",
    # Of this process what runtimes ask; `net` beside it tells whom the machine talks to.
    "/proc/self/cgroup", "/proc/self/maps", "/proc/self/stat", "/proc/self/statm",
    "/proc/self/status",
    # DuckDB ends its process where it cannot count processors and memory (reliability 7).
    "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup",
    "/dev/urandom", "/dev/random", "/dev/zero", "/dev/null",
)  # fmt: skip
"""What libraries ask about the machine."""

_SINK: Final = Grant("/dev/null", WRITE)

_PROGRAMS: Final = ("/bin", "/sbin", "/opt", *_SYSTEM)

_PROGRAM_FACTS: Final = (
    "/etc/fonts", "/etc/libreoffice", "/etc/alternatives", "/etc/passwd", "/etc/group",
    "/etc/nsswitch.conf", "/etc/locale.alias", "/etc/ld.so.conf",
    "/etc/ld.so.preload", "/etc/papersize",
    "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice",
    "~/.local/share/fonts", "~/.fonts",
)  # fmt: skip
"""What a program that prints reads beside its own files: fonts, and who it is."""

_SOCKET_FOLDERS: Final = ("/tmp", "/var/tmp")
"""Where LibreOffice makes the socket by which it knows that it runs. It may do nothing else there,
not even remove it."""

_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITIES_3: Final = 0x20080522
_CAP_DAC_OVERRIDE: Final = 1
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000


class CallReach(msgspec.Struct, frozen=True):
    """CallReach of a call: all that it may open beside the code that it runs.

    Args:
        files: Files that it reads.
        folders: Folders in which it reads and writes.
        program: The program that it runs, or "" if it may run none.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    program: str = ""


class Filters(msgspec.Struct, frozen=True):
    """Filters of system calls on one machine.

    Args:
        call: For calls that parse.
        program: For calls that run a program.
        silent_program: The same where Landlock does not know to whom a signal goes: to nobody.
    """

    call: CallFilter
    program: bytes
    silent_program: bytes


class Software(msgspec.Struct, frozen=True):
    """Software of this machine that the calls of one zygote use.

    Args:
        code: Folders of modules and libraries, which every call reads.
        programs: Folders of programs, for calls that run one.
    """

    code: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


def find_software(paths: Iterable[str], private: str) -> Software:
    """Return the software that calls use.

    Args:
        paths: Where Python looks for modules.
        private: A folder that no call may read, or "": what it lies in is left out.
    """
    libraries = (sysconfig.get_config_var("LIBDIR") or "", f"{sys.base_prefix}/lib")
    # A program may be a script, and Python what runs it.
    programs = (*_PROGRAMS, sys.prefix, sys.base_prefix)
    return Software(_without((*paths, *libraries, *_SYSTEM), private), _without(programs, private))


def hide_process() -> None:
    """Make this process unreadable for others of its user: its memory, its open files, its traces.

    Its children inherit it until they run another program.
    """
    _set(_PR_SET_DUMPABLE, 0)


def take_orphans() -> None:
    """Become the parent of whatever leaves its own parent below this process."""
    _set(_PR_SET_CHILD_SUBREAPER, 1)


def leave_network() -> None:
    """Enter a network without any interface; where the system does not allow it, do nothing."""
    uid, gid = os.getuid(), os.getgid()
    with contextlib.suppress(AttributeError, OSError):
        # Its own files in /proc are its user's only while it can be read.
        _set(_PR_SET_DUMPABLE, 1)
        if _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
            # Without these lines it would be nobody to itself.
            for name, line in (
                ("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")
            ):  # fmt: skip
                Path("/proc/self", name).write_text(line, encoding="ascii")
    hide_process()


def find_filters() -> Filters | None:
    """Return the filters of this machine; None where none can be had."""
    machine = find_machine(os.uname().machine)
    if machine is None:
        return None
    return Filters(
        CallFilter(machine),
        program_filter(machine, signals=True),
        program_filter(machine, signals=False),
    )


def confine_process(
    reach: CallReach, layers: Layers, software: Software, filters: Filters | None
) -> None:
    """Confine this process to its reach, for good.

    Args:
        reach: What it may open.
        layers: The layers that it gets.
        software: What it uses of this machine.
        filters: Those of this machine.

    Raises:
        OSError: A layer that was asked for cannot be applied; the process must do nothing else.
    """
    # Both filters below are taken only from who can gain nothing by running another program.
    _set(_PR_SET_NO_NEW_PRIVS, 1)
    _drop_capabilities()
    if layers.landlock:
        restrict_files(_grants(reach, software))
    if layers.seccomp:
        assert filters is not None
        # Last: what is done above is not allowed any more.
        if not reach.program:
            install_filter(filters.call.of_process(os.getpid()))
        elif layers.landlock and find_version() >= SIGNALS_SINCE:
            install_filter(filters.program)
        else:
            install_filter(filters.silent_program)


def _drop_capabilities() -> None:
    """Drop the powers of root, or of who has left the network: its limits could be raised again.

    To open files of other owners stays, where root has it: the home may lie on a disk of another
    user, and what is opened is for Landlock to hold.
    """
    # Twice effective, permitted and inheritable, the lower 32 first (`capget(2)`).
    header, held = struct.pack("=Ii", _CAPABILITIES_3, 0), ctypes.create_string_buffer(24)
    with contextlib.suppress(AttributeError, OSError):
        if _LIBC.capget(header, held) == 0:
            (effective,) = struct.unpack_from("=I", held.raw)
            kept = effective & 1 << _CAP_DAC_OVERRIDE
            _LIBC.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _grants(reach: CallReach, software: Software) -> Iterator[Grant]:
    for path in (*software.code, *_FACTS, *reach.files):
        yield Grant(path, READ)
    yield _SINK
    for path in reach.folders:
        yield Grant(path, SERVE if reach.program else WRITE)
    if reach.program:
        yield from _program_grants(reach.program, software)


def _program_grants(program: str, software: Software) -> Iterator[Grant]:
    folder = Path(program).resolve().parent
    # The layout of LibreOffice, wherever it lies: program/ beside share/.
    own = folder.parent if folder.name == "program" else folder
    for path in (*software.programs, str(own)):
        yield Grant(path, RUN)
    for path in _PROGRAM_FACTS:
        yield Grant(os.path.expanduser(path), READ)
    for path in _SOCKET_FOLDERS:
        yield Grant(path, LISTEN)


def _without(paths: Iterable[str], private: str) -> tuple[str, ...]:
    found = dict.fromkeys(path for path in paths if os.path.isabs(path))
    return tuple(path for path in found if not (private and _holds(path, private)))


def _holds(folder: str, inner: str) -> bool:
    outer, held = os.path.realpath(folder), os.path.realpath(inner)
    return os.path.commonpath((outer, held)) == outer


def _set(option: int, value: int) -> None:
    # Where the system has no such call, the layers that build on it say so.
    with contextlib.suppress(AttributeError, OSError):
        _LIBC.prctl(option, value, 0, 0, 0)
