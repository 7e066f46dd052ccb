"""What code does that has taken over a worker: each act returns "" if it succeeds, else its error.

Targets come as plain texts and numbers, as an attacker would know or guess them: what an argument
names as a path is granted to the call.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["ACTS", "PROGRAM_ACTS", "attempt", "hold", "run_acts"]

_LIBC = ctypes.CDLL(None, use_errno=True)

# The same on x86-64 and 64-bit ARM.
_PIDFD_OPEN, _PIDFD_GETFD, _IO_URING_SETUP = 434, 438, 425
_PTRACE_SEIZE = 0x4206
_PR_SET_NAME = 15


def hold(seconds: float, name: str) -> None:
    """Stay alive under a name, for another call to reach."""
    # A thread's name is that of the process where it is the first one.
    _LIBC.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)
    time.sleep(seconds)


def attempt(name: str, targets: dict[str, Any]) -> str:
    """Do an act and return the name of the error that refused it, or "" if nothing did."""
    try:
        ACTS[name](targets)
    except OSError as fault:
        return errno.errorcode.get(fault.errno or 0, "refused")
    except (ValueError, subprocess.SubprocessError) as fault:
        return type(fault).__name__
    return ""


def run_acts(program: str, targets: dict[str, Any]) -> dict[str, str]:
    """Run a program that attempts all acts of a program, and return what each came to."""
    done = subprocess.run(
        [program, json.dumps(targets)], capture_output=True, text=True, check=False
    )
    found: dict[str, str] = json.loads(done.stdout or json.dumps({"none": done.stderr[-2000:]}))
    return found


def _read(target: str) -> Callable[[dict[str, Any]], None]:
    def act(targets: dict[str, Any]) -> None:
        Path(targets[target]).read_bytes()

    return act


def _write_outside(targets: dict[str, Any]) -> None:
    Path(targets["folder"], "planted").write_text("x")


def _truncate_outside(targets: dict[str, Any]) -> None:
    os.truncate(targets["victim"], 0)


def _delete_outside(targets: dict[str, Any]) -> None:
    os.unlink(targets["spare"])


def _make_public(targets: dict[str, Any]) -> None:
    os.chmod(targets["key"], 0o644)


def _link_outside(targets: dict[str, Any]) -> None:
    os.link(targets["key"], Path(targets["folder"], "link"))


def _connect_tcp(targets: dict[str, Any]) -> None:
    socket.create_connection(("127.0.0.1", targets["tcp"]), timeout=5).close()


def _send_udp(targets: dict[str, Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("127.0.0.1", targets["udp"]))


def _connect_daemon(targets: dict[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(targets["socket"])


def _run_program(targets: dict[str, Any]) -> None:
    del targets
    os.execv("/bin/true", ["true"])


def _fork_much(targets: dict[str, Any]) -> None:
    del targets
    for _ in range(500):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def _leave_stray(targets: dict[str, Any]) -> None:
    """Fork twice, with a session of its own between, and close all that is open."""
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            # By this name it is looked for.
            _LIBC.prctl(_PR_SET_NAME, targets["stray"].encode(), 0, 0, 0)
            os.write(told, b"x")
            os.closerange(0, 64)
            time.sleep(600)
        os._exit(0)
    os.read(ready, 1)


def _trace(target: str) -> Callable[[dict[str, Any]], None]:
    def act(targets: dict[str, Any]) -> None:
        _checked(_LIBC.ptrace(_PTRACE_SEIZE, targets[target], None, None))

    return act


def _take_file(target: str) -> Callable[[dict[str, Any]], None]:
    def act(targets: dict[str, Any]) -> None:
        process = _checked(_LIBC.syscall(_PIDFD_OPEN, targets[target], 0))
        _checked(_LIBC.syscall(_PIDFD_GETFD, process, 0, 0))

    return act


def _open_memory(target: str) -> Callable[[dict[str, Any]], None]:
    def act(targets: dict[str, Any]) -> None:
        os.close(os.open(f"/proc/{targets[target]}/mem", os.O_RDWR))

    return act


def _read_environment(targets: dict[str, Any]) -> None:
    Path(f"/proc/{targets['daemon']}/environ").read_bytes()


def _read_connections(targets: dict[str, Any]) -> None:
    del targets
    Path("/proc/self/net/unix").read_bytes()


def _read_what_siblings_print(targets: dict[str, Any]) -> None:
    """Open anew, for reading, the pipe into which the zygote and its calls print."""
    del targets
    for number in (1, 2):
        if not stat.S_ISFIFO(os.fstat(number).st_mode):
            raise PermissionError(errno.EACCES, "what is printed goes nowhere")
        os.close(os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_NONBLOCK))


def _limit_daemon(targets: dict[str, Any]) -> None:
    """Take from the daemon the right to open files; here as many as it has, lest it ends."""
    limits = resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)
    resource.prlimit(targets["daemon"], resource.RLIMIT_NOFILE, limits)


def _send_messages(targets: dict[str, Any]) -> None:
    """Send to a socket of messages, as that of the system's log is one; none need connect."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", targets["messages"])


def _share_memory(targets: dict[str, Any]) -> None:
    """Ask for memory that programs of one user share by a number."""
    del targets
    _checked(_LIBC.shmget(0, 4096, 0o1600))


def _watch_files(targets: dict[str, Any]) -> None:
    """Be told of what happens in a folder that cannot be read."""
    watch = _checked(_LIBC.inotify_init1(0))
    _checked(_LIBC.inotify_add_watch(watch, targets["folder"].encode(), 0xFFF))


def _change_times(targets: dict[str, Any]) -> None:
    os.utime(targets["key"], (0, 0))


def _signal(target: str) -> Callable[[dict[str, Any]], None]:
    def act(targets: dict[str, Any]) -> None:
        # One that changes nothing where it is allowed.
        os.kill(targets[target], signal.SIGCONT)

    return act


def _use_io_uring(targets: dict[str, Any]) -> None:
    del targets
    os.close(_checked(_LIBC.syscall(_IO_URING_SETUP, 4, ctypes.create_string_buffer(256))))


def _make_user_namespace(targets: dict[str, Any]) -> None:
    del targets
    _checked(_LIBC.unshare(0x10000000))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


ACTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "read a key file": _read("key"),
    "read the settings": _read("settings"),
    "read another workbench": _read("workbench"),
    "write outside": _write_outside,
    "truncate outside": _truncate_outside,
    "delete outside": _delete_outside,
    "make a key public": _make_public,
    "link a key elsewhere": _link_outside,
    "connect by TCP": _connect_tcp,
    "send by UDP": _send_udp,
    "connect to the daemon": _connect_daemon,
    "run a program": _run_program,
    "fork 500 times": _fork_much,
    "leave a stray": _leave_stray,
    "trace the zygote": _trace("zygote"),
    "trace a sibling": _trace("sibling"),
    "trace the daemon": _trace("daemon"),
    "take a file of the zygote": _take_file("zygote"),
    "take a file of a sibling": _take_file("sibling"),
    "take a file of the daemon": _take_file("daemon"),
    "open the zygote's memory": _open_memory("zygote"),
    "open a sibling's memory": _open_memory("sibling"),
    "open the daemon's memory": _open_memory("daemon"),
    "read the daemon's environment": _read_environment,
    "read the machine's connections": _read_connections,
    "read what siblings print": _read_what_siblings_print,
    "signal the zygote": _signal("zygote"),
    "signal the daemon": _signal("daemon"),
    "use io_uring": _use_io_uring,
    "make a user namespace": _make_user_namespace,
}

PROGRAM_ACTS: dict[str, Callable[[dict[str, Any]], None]] = {
    name: act
    for name, act in ACTS.items()
    if name not in {"run a program", "fork 500 times", "leave a stray", "read what siblings print"}
} | {
    "limit the daemon": _limit_daemon,
    "send to a socket of messages": _send_messages,
    "share memory": _share_memory,
    "watch files": _watch_files,
    "change times": _change_times,
}
"""What is refused to a program that prints, too: it may start others, and prints where it can."""

if __name__ == "__main__":
    _found = {}
    for _name, _act in PROGRAM_ACTS.items():
        ACTS[_name] = _act
        _found[_name] = attempt(_name, json.loads(sys.argv[1]))
    print(json.dumps(_found))
