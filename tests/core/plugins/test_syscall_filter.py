"""The filters of system calls decide alike on every machine that kbd knows."""

import errno
import os
import struct
from collections.abc import Mapping

import pytest

from kbd.core.plugins.confinement.syscall_filter import CallFilter, program_filter
from kbd.core.plugins.confinement.syscall_numbers import Machine, find_machine

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
PID = 4711


def decide(program: bytes, machine: Machine, number: int, *arguments: int) -> int:
    """Run a filter as the kernel does, and return its answer."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, machine.audit_arch, 0, *padded)
    code = list(struct.iter_unpack("=HBBI", program))
    accumulator, at = 0, 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x25:
                at += if_true if accumulator > value else if_false
            case 0x45:
                at += if_true if accumulator & value else if_false
            case 0x06:
                return int(value)


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """Each machine that kbd knows."""
    found = find_machine(request.param)
    assert found is not None
    return found


def every_filter(machine: Machine) -> list[bytes]:
    """That of calls that parse, and those of programs with signals and without."""
    programs = [program_filter(machine, signals=each) for each in (True, False)]
    return [CallFilter(machine).of_process(PID), *programs]


NEVER = (
    "socket", "connect", "execve", "execveat", "ptrace", "process_vm_readv", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "io_uring_setup", "userfaultfd", "bpf", "keyctl", "unshare",
    "setns", "mount", "open_by_handle_at", "perf_event_open", "personality",
)  # fmt: skip


def test_a_call_gets_what_it_needs_and_no_more(machine: Machine) -> None:
    """Files, memory and threads; no process, no socket, no signal but to itself."""
    program, numbers = CallFilter(machine).of_process(PID), machine.numbers
    decisions: Mapping[tuple[str, tuple[int, ...]], bool] = {
        ("read", ()): True,
        ("openat", ()): True,
        ("mmap", ()): True,
        ("exit_group", ()): True,
        # A thread, as the C library starts it, and a process, as it forks.
        ("clone", (0x3D0F00,)): True,
        ("clone", (0x1200011,)): False,
        ("kill", (PID, 9)): True,
        ("kill", (PID + 1, 9)): False,
        ("kill", (0, 9)): False,
        ("kill", (2**64 - 1, 9)): False,
        ("tgkill", (PID, PID, 6)): True,
        ("tgkill", (1, 1, 6)): False,
        ("prlimit64", (0, 9)): True,
        ("prlimit64", (1, 9)): False,
        ("fcntl", (3, 1)): True,
        ("fcntl", (3, 8)): False,
        ("ioctl", (3, 0x5401)): True,
        ("ioctl", (3, 0x5412)): False,
        ("prctl", (15,)): True,
        ("prctl", (4, 1)): False,
    }
    for (name, arguments), allowed in decisions.items():
        expected = ALLOW if allowed else REFUSE | errno.EPERM
        assert decide(program, machine, numbers[name], *arguments) == expected, (name, arguments)
    for name in NEVER:
        if name in numbers:
            assert decide(program, machine, numbers[name]) == REFUSE | errno.EPERM, name


def test_what_is_newer_than_the_tables_is_not_there(machine: Machine) -> None:
    """A library takes the older way then; so it does for threads, whose newer no filter sees."""
    for program in every_filter(machine):
        assert decide(program, machine, machine.numbers["clone3"]) == REFUSE | errno.ENOSYS
        assert decide(program, machine, 1000) == REFUSE | errno.ENOSYS


def test_other_conventions_of_the_machine_end_the_process(machine: Machine) -> None:
    """Their numbers mean other calls."""
    other = Machine(machine.audit_arch ^ 1, 0, machine.numbers)
    for program in every_filter(machine):
        assert decide(program, other, machine.numbers["read"]) == KILL
        if machine.foreign_bit:
            number = machine.numbers["read"] | machine.foreign_bit
            assert decide(program, machine, number) == KILL


def test_a_program_may_start_others_but_reach_nobody(machine: Machine) -> None:
    """It runs, forks and listens; it connects to nothing and enters no namespace."""
    program, numbers = program_filter(machine, signals=True), machine.numbers
    allowed: list[tuple[str, tuple[int, ...]]] = [
        ("clone", (0x1200011,)), ("socket", (1, 1, 0)), ("socket", (1, 0x80801, 0)), ("bind", ()),
        ("socketpair", (1, 0x80001, 0)), ("read", ()), ("kill", (1,)), ("prlimit64", (0, 7)),
        ("utimensat", (3, 0)), ("fcntl", (3, 8)),
    ]  # fmt: skip
    for name, arguments in allowed:
        if name in numbers:
            assert decide(program, machine, numbers[name], *arguments) == ALLOW, name
    refused: list[tuple[str, tuple[int, ...]]] = [
        ("clone", (0x10000011,)),
        ("socket", (2, 1, 0)),
        ("socket", (16, 3, 0)),
        ("socket", (1, 2, 0)),
        ("socket", (1, 0x80802, 0)),
        ("socketpair", (1, 2, 0)),
        ("prlimit64", (PID, 7)),
        ("utimensat", (3, 0x7F0000001000)),
        ("utimensat", (3, 0x7F0000000000)),
        ("chmod", ()),
        ("fchmodat", ()),
        ("shmat", ()),
        ("inotify_init1", ()),
        ("sched_setaffinity", (PID,)),
    ]
    for name, arguments in (*refused, *((name, ()) for name in NEVER)):
        if name in numbers and not name.startswith("exec") and (name, arguments) != ("socket", ()):
            answer = decide(program, machine, numbers[name], *arguments)
            assert answer == REFUSE | errno.EPERM, name


def test_a_program_sends_signals_only_where_landlock_knows_to_whom(machine: Machine) -> None:
    """Elsewhere to nobody, neither by a call of its own nor for what happens to a file."""
    numbers = machine.numbers
    calls: list[tuple[str, tuple[int, ...]]] = [
        ("kill", (PID, 9)), ("tkill", (PID, 9)), ("tgkill", (PID, PID, 9)),
        ("rt_sigqueueinfo", (PID, 9)), ("fcntl", (3, 8)), ("fcntl", (3, 10)), ("fcntl", (3, 15)),
        ("ioctl", (3, 0x8901)),
    ]  # fmt: skip
    for name, arguments in calls:
        for signals, expected in ((True, ALLOW), (False, REFUSE | errno.EPERM)):
            program = program_filter(machine, signals=signals)
            assert decide(program, machine, numbers[name], *arguments) == expected, name
    for name, arguments in (("fcntl", (3, 4)), ("ioctl", (3, 0x5401)), ("read", ())):
        program = program_filter(machine, signals=False)
        assert decide(program, machine, numbers[name], *arguments) == ALLOW, name


def test_filters_are_short_enough_for_the_kernel(machine: Machine) -> None:
    """It takes 4,096 instructions."""
    for program in every_filter(machine):
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096


def test_a_machine_without_a_table_is_none() -> None:
    """It is named as missing, not guessed."""
    assert find_machine("riscv64") is None
    assert (os.uname().machine in {"x86_64", "aarch64"}) == bool(find_machine(os.uname().machine))
