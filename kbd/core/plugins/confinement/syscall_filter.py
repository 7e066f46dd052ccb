"""Filters of system calls (seccomp) for worker calls, as programs that the kernel runs.

A call that parses gets a list of what it may do: memory, threads, time, and files that it opens or
has open. It can start no process, make no socket, and send a signal to nobody but itself. A call
that runs another program gets a list of what is refused: the doors to other processes, to the
kernel's rarer parts, and to every address. The list of what is allowed stands first in the fight
against faults of the kernel, too: most of its calls cannot be reached.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Sequence
from typing import Final

from kbd.core.plugins.confinement.syscall_numbers import LAST_KNOWN, Machine, find_machine

__all__ = ["CallFilter", "install_filter", "program_filter", "why_unfiltered"]

# Loaded here, before a fork: each call would do it again.
_LIBC: Final = ctypes.CDLL(None, use_errno=True)

_ALLOWED: Final = frozenset(
    {
        "read", "write", "open", "openat", "openat2", "close", "close_range", "creat", "lseek",
        "pread64", "pwrite64", "preadv", "pwritev", "readv", "writev", "ftruncate",
        "fsync", "fdatasync", "sync_file_range", "flock", "fadvise64", "copy_file_range",
        "sendfile", "dup", "dup2", "dup3", "pipe", "pipe2", "stat", "lstat", "fstat", "newfstatat",
        "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2", "getdents",
        "getdents64", "readlink", "readlinkat", "getcwd", "umask", "rename", "renameat",
        "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "mmap", "munmap",
        "mprotect", "mremap", "brk", "madvise", "msync", "mincore", "membarrier", "mlock",
        "munlock", "get_mempolicy", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
        "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack", "pause",
        "restart_syscall", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep",
        "gettimeofday", "time", "times", "alarm", "setitimer", "getitimer", "futex",
        "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "gettid", "getpid",
        "getppid", "arch_prctl", "exit", "exit_group", "sched_yield", "sched_getaffinity",
        "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
        "getcpu", "getpriority", "getuid", "geteuid", "getgid", "getegid", "getresuid",
        "getresgid", "getgroups", "getpgrp", "getpgid", "getsid", "poll", "ppoll", "select",
        "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
        "eventfd", "eventfd2", "uname", "sysinfo", "getrlimit", "setrlimit", "getrusage",
        "getrandom", "recvfrom", "sendto", "getsockopt", "getsockname", "getpeername", "shutdown",
        "wait4", "waitid",
    }
)  # fmt: skip
"""What a call may always do. Files are opened, made, renamed and deleted where Landlock lets it;
links, modes, owners, extended attributes and `truncate` by path are not in the list, for Landlock
does not hold, or not on each kernel, what is done to a file by its path alone."""

_REFUSED_TO_PROGRAMS: Final = frozenset(
    {
        "connect", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
        "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "io_uring_setup", "io_uring_enter",
        "io_uring_register", "userfaultfd", "bpf", "perf_event_open", "keyctl", "add_key",
        "request_key", "unshare", "setns", "mount", "umount2", "pivot_root", "chroot",
        "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
        "open_by_handle_at", "name_to_handle_at", "init_module", "finit_module", "delete_module",
        "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl",
        "quotactl_fd", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "iopl",
        "ioperm", "modify_ldt", "personality", "chmod", "fchmodat", "fchmodat2", "chown", "lchown",
        "fchownat", "setxattr", "lsetxattr", "removexattr", "lremovexattr", "utime", "utimes",
        "futimesat", "truncate", "sched_setaffinity", "sched_setscheduler", "sched_setparam",
        "sched_setattr", "setpriority", "ioprio_set", "shmget", "shmat", "shmctl", "semget",
        "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open",
        "mq_unlink", "migrate_pages", "move_pages", "process_mrelease", "inotify_init",
        "inotify_init1", "fanotify_init", "syslog",
    }
)  # fmt: skip
"""What no program does that prints a document: reach into other processes, their limits and what
they share by a number, connect to anything, enter namespaces, mount, load code into the kernel, set
the clock; and what Landlock does not hold: to change modes, owners, attributes and times of files
by their paths, and to be told of what others do with them."""

_SIGNALS: Final = frozenset({"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
"""Signals to other processes; `abort` ends its process without them, too."""

_OWNERS: Final = {"fcntl": (8, 10, 15), "ioctl": (0x8901, 0x8902)}
"""F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP: who is sent a signal for a file."""

_CLONE_THREAD: Final = 0x00010000

_CLONE_NAMESPACES: Final = 0x7E020080
"""CLONE_NEW… of users, mounts, processes, networks, and the others: in one of its own a process has
powers that it has not here."""

_AF_UNIX: Final = 1
_SOCK_STREAM: Final = 1
_SOCK_FLAGS: Final = 0x80800
"""SOCK_CLOEXEC, SOCK_NONBLOCK."""

_IOCTLS: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what a runtime asks of its files. Not
TIOCSTI, which types into a terminal, and not FIOASYNC, which sends signals."""

_FCNTLS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
"""Duplicates, flags, locks, the size of a pipe. Not F_SETOWN and F_SETSIG, which send signals."""

_PRCTLS: Final = (15, 16, 0x53564D41)
"""PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names of threads and of memory."""

_OWN_PROCESS: Final = 0xFFFFFFFF
"""Stands for the number of the process until it is known; no process has it."""

# Offsets in `struct seccomp_data`.
_NUMBER: Final = 0
_ARCH: Final = 4
_ARGUMENTS: Final = 16

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_IS_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_IS_GREATER: Final = 0x25  # BPF_JMP | BPF_JGT | BPF_K
_HAS_BITS: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_ERROR: Final = 0x00050000

_UNSUPPORTED: Final = _ERROR | errno.EOPNOTSUPP

_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if not, value (`struct sock_filter`)."""


class _Program(ctypes.Structure):
    """Program for the kernel: `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class CallFilter:
    """Filter of calls that parse: made once, before they are forked.

    Args:
        machine: The machine that they run on.
    """

    def __init__(self, machine: Machine) -> None:
        program = _call_program(machine)
        self._packed = _pack(program)
        self._places = [
            8 * index + 4 for index, (*_, value) in enumerate(program) if value == _OWN_PROCESS
        ]

    def of_process(self, pid: int) -> bytes:
        """Return the filter for one process, the only one that it may signal."""
        packed = bytearray(self._packed)
        for place in self._places:
            struct.pack_into("=I", packed, place, pid)
        return bytes(packed)


def _call_program(machine: Machine) -> list[Instruction]:
    found = machine.numbers
    program = _entry(machine)
    # One comparison and one answer each: of a call that is allowed whatever its arguments are, the
    # kernel keeps the answer and does not ask again.
    for name in sorted(_ALLOWED & found.keys()):
        program += [(_IS_EQUAL, 0, 1, found[name]), (_RETURN, 0, 0, _ALLOW)]
    # A terabyte would be taken before anybody looks; the C library writes zeros instead.
    program += [(_IS_EQUAL, 0, 1, found["fallocate"]), (_RETURN, 0, 0, _UNSUPPORTED)]
    program += _if_any(found["ioctl"], 1, _IOCTLS)
    program += _if_any(found["fcntl"], 1, _FCNTLS)
    program += _if_any(found["prctl"], 0, _PRCTLS)
    program += _if_any(found["prlimit64"], 0, (0, _OWN_PROCESS))
    # Its own end only: `abort` is a signal to oneself.
    program += _if_any(found["kill"], 0, (_OWN_PROCESS,))
    program += _if_any(found["tgkill"], 0, (_OWN_PROCESS,))
    program += [
        # A thread is no process: it shares all that is limited here.
        (_IS_EQUAL, 0, 3, found["clone"]),
        _load_argument(0),
        (_HAS_BITS, 0, 1, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        # The flags may have been loaded in the place of the number.
        (_LOAD, 0, 0, _NUMBER),
    ]
    return [*program, *_refuse_rest(found["clone3"])]


def program_filter(machine: Machine, *, signals: bool) -> bytes:
    """Return the filter of a call that runs another program, and of all that it starts.

    Args:
        machine: The machine that it runs on.
        signals: Whether it may send signals: where Landlock knows to whom.
    """
    found = machine.numbers
    refused = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    allowed = (_RETURN, 0, 0, _ALLOW)
    program = _entry(machine)
    names = _REFUSED_TO_PROGRAMS if signals else _REFUSED_TO_PROGRAMS | _SIGNALS
    for name in sorted(names & found.keys()):
        program += [(_IS_EQUAL, 0, 1, found[name]), refused]
    for name, values in () if signals else _OWNERS.items():
        program += _if_any(found[name], 1, values, refused, allowed)
    # Its own limits only: of another process of this user a limit could be set to nothing.
    program += _if_any(found["prlimit64"], 0, (0,))
    # Times of what it has open, not of what it names by a path: that is no pointer then.
    program += [
        (_IS_EQUAL, 0, 7, found["utimensat"]),
        _load_argument(1),
        (_IS_EQUAL, 1, 0, 0),
        refused,
        (_LOAD, 0, 0, _ARGUMENTS + 12),  # the upper half of that
        (_IS_EQUAL, 1, 0, 0),
        refused,
        allowed,
    ]
    # Of sockets those between its own processes: it listens for a second start of itself. Not of
    # messages, which are sent to any address without a connection.
    kinds = [_SOCK_STREAM | flags for flags in (0, 0x800, 0x80000, _SOCK_FLAGS)]
    for name in ("socket", "socketpair"):
        program += [
            (_IS_EQUAL, 0, 3, found[name]),
            _load_argument(0),
            (_IS_EQUAL, 1, 0, _AF_UNIX),
            refused,
            (_LOAD, 0, 0, _NUMBER),
        ]
        program += _if_any(found[name], 1, kinds)
    program += [
        # A program starts processes, and its threads may be started in the older way, too.
        (_IS_EQUAL, 0, 1, found["clone3"]),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_IS_EQUAL, 0, 4, found["clone"]),
        _load_argument(0),
        (_HAS_BITS, 0, 1, _CLONE_NAMESPACES),
        refused,
        allowed,
        (_IS_GREATER, 0, 1, LAST_KNOWN),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        allowed,
    ]
    return _pack(program)


def install_filter(program: bytes) -> None:
    """Install a filter for this process, for good; it must have one thread, and no new privileges.

    Raises:
        OSError: The kernel does not take it.
    """
    packed = _Program(len(program) // 8, program)
    if _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(packed), 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def why_unfiltered() -> str:
    """Return why no process can be filtered here, or "" if it can; nothing is installed."""
    machine = os.uname().machine
    if find_machine(machine) is None:
        return f"the system calls of {machine} are not known to kbd"
    # Without a program it is refused: because of the address where there are filters, else because
    # the kernel does not know them.
    _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0)
    if ctypes.get_errno() == errno.EFAULT:
        return ""
    return "this kernel has no filters of system calls (seccomp)"


def _entry(machine: Machine) -> list[Instruction]:
    """Refuse other conventions of the same machine, whose numbers mean other calls."""
    entry: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_IS_EQUAL, 1, 0, machine.audit_arch),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine.foreign_bit:
        entry += [(_HAS_BITS, 0, 1, machine.foreign_bit), (_RETURN, 0, 0, _KILL_PROCESS)]
    return entry


def _refuse_rest(clone3: int) -> list[Instruction]:
    """Refuse what came through; `clone3` as unknown, for its flags lie where no filter can look."""
    return [
        (_IS_EQUAL, 1, 0, clone3),
        (_IS_GREATER, 0, 1, LAST_KNOWN),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
    ]


def _if_any(
    number: int,
    argument: int,
    values: Sequence[int],
    then: Instruction = (_RETURN, 0, 0, _ALLOW),
    otherwise: Instruction = (_RETURN, 0, 0, _ERROR | errno.EPERM),
) -> list[Instruction]:
    """Answer a call by whether an argument is one of some values; as a rule that allows it."""
    checks: list[Instruction] = []
    for value in values:
        checks += [(_IS_EQUAL, 0, 1, value), then]
    checks.append(otherwise)
    return [(_IS_EQUAL, 0, len(checks) + 1, number), _load_argument(argument), *checks]


def _load_argument(index: int) -> Instruction:
    # The lower half, on machines whose lower half comes first: what is compared here has 32 bits in
    # the kernel, too.
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index)


def _pack(program: Iterable[Instruction]) -> bytes:
    return b"".join(struct.pack("=HBBI", *each) for each in program)
