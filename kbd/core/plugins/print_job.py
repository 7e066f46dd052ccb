"""Print job of a worker: an office program prints one document, in a profile made for it.

The program is a parser of hostile files that kbd has not written. So it works on a copy, runs no
macros, follows no link of a document (neither to the network nor to files of this machine), sees no
environment of the daemon's, and is in the group of the call, with whose limits it is killed. Where
the system lets a process leave the network, it has none at all.
"""

import contextlib
import os
import pwd
import resource
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec

from kbd.errors import FileReadFailed, ToolTimeout, ToolWorkerUnavailable

__all__ = ["PrintOrder", "print_document", "printed_path", "profile_url"]

TAIL_BYTES = 4096
"""How much of the end of what the program printed is kept for the daemon's own log."""

TAIL_S = 0.2
"""Seconds that are waited for it when the program has ended: what it started may hold it open."""

CPU_SHARE = 0.9
"""A program that failed after so much of its processor time is taken to have used it up: who starts
its processes for it need not say how they ended, and the kernel counts more coarsely."""

_SIGNALLED = 128
"""A shell that ran the program answers this and the number of the signal that ended it."""

PROFILE: Mapping[str, Mapping[str, str]] = {
    # Of all links, for no folder is trusted: a picture, a section, a sheet of another file.
    "Common/Security/Scripting": {
        "BlockUntrustedRefererLinks": "true",
        "DisableMacrosExecution": "true",
        "MacroSecurityLevel": "3",
    },
    "Common/Misc": {"CrashReport": "false", "UseLocking": "false"},
    "Java/VirtualMachine": {"Enable": "false"},
    "Calc/Content/Update": {"Link": "1"},
    "Writer/Content/Update": {"Link": "2"},
}
"""Settings of the program's profile, by path and name, below `org.openoffice.Office`."""

_SCHEMA = "http://openoffice.org/2001/registry"


class PrintOrder(msgspec.Struct, frozen=True):
    """Order to print a document.

    Args:
        program: The program's path.
        source: Where the document's bytes lie.
        name: The document's name, for messages.
        suffix: The suffix that tells its format.
        target_suffix: That of the printed document.
        export_filter: The program's export filter with its options; "" for its own choice.
        folder: An empty folder, for all that the program reads and writes.
    """

    program: str
    source: str
    name: str
    suffix: str
    target_suffix: str
    export_filter: str
    folder: str


def printed_path(order: PrintOrder) -> Path:
    """Return where the printed document lies when the program has printed it."""
    return Path(order.folder) / "printed" / f"document{order.target_suffix}"


def profile_url(order: PrintOrder) -> str:
    """Return the address of the program's profile."""
    return (Path(order.folder) / "profile").as_uri()


def print_document(order: PrintOrder) -> None:
    """Have a document printed; called in a process that has confined itself.

    A second time in the same folder it goes on with the profile that is there.

    Raises:
        FileReadFailed: The program printed nothing. What it wrote to its terminal is in
            `detail["trace"]`, for the daemon's own log.
        ToolTimeout: It used up its processor time, or wrote a file of the largest size.
        ToolWorkerUnavailable: It cannot be started.
    """
    folder = Path(order.folder)
    # Not linked: the program could write into the bytes that a link leads to.
    document = folder / f"document{order.suffix}"
    shutil.copyfile(order.source, document)
    environment = _make_environment(folder)
    if not (folder / "profile").exists():
        _write_profile(folder / "profile" / "user")
    printed_path(order).parent.mkdir(mode=0o700, exist_ok=True)
    convert = order.target_suffix.removeprefix(".")
    if order.export_filter:
        convert = f"{convert}:{order.export_filter}"
    command = [
        order.program, f"-env:UserInstallation={profile_url(order)}", "--headless", "--norestore",
        "--convert-to", convert, "--outdir", str(printed_path(order).parent), str(document),
    ]  # fmt: skip
    try:
        status, tail = _run(command, folder, environment)
    except OSError as fault:
        msg = f"{Path(order.program).name} cannot be started: {os.strerror(fault.errno or 0)}"
        raise ToolWorkerUnavailable(msg, retryable=False) from None
    _check_printed(order, status, tail)


def _check_printed(order: PrintOrder, status: int, tail: str) -> None:
    """Check that there is a whole printed document; raises as `print_document` does."""
    program = Path(order.program).name
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = _size_bytes(printed_path(order))
    if size is not None and limit != resource.RLIM_INFINITY and size >= limit:
        msg = f"{order.name} takes more than {limit >> 20} MiB when it is printed by {program}"
        raise ToolTimeout(msg, detail={"limit": "file"})
    # Programs of this kind answer 0 for a file that they could not load, too.
    if size and status == 0:
        return
    if _is_out_of_time(status):
        cpu_s, _ = resource.getrlimit(resource.RLIMIT_CPU)
        msg = f"{program} used up its {cpu_s} s of processor time for {order.name}"
        raise ToolTimeout(msg, detail={"limit": "cpu"})
    msg = f"{order.name} could not be printed by {program}, which {_describe_end(status)}"
    raise FileReadFailed(msg, detail={"trace": tail})


def _is_out_of_time(status: int) -> bool:
    cpu_s, _ = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    is_near = used.ru_utime + used.ru_stime >= CPU_SHARE * cpu_s
    return _signal_number(status) == signal.SIGXCPU or (cpu_s != resource.RLIM_INFINITY and is_near)


def _signal_number(status: int) -> int:
    """Return the number of the signal that ended a program; not above 0 if none did."""
    return -status if status < 0 else status - _SIGNALLED


def _size_bytes(path: Path) -> int | None:
    """Return the size of a plain file; None for what is none, as a link that a program made."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _describe_end(status: int) -> str:
    number = _signal_number(status)
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(number).name}"
    return f"ended with status {status} and no document"


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run the program and return its status and the end of what it printed."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=environment,
    )
    assert process.stdout is not None
    tail = _Tail(process.stdout)
    # In a thread, for a process that the program leaves behind may hold the pipe open.
    reader = threading.Thread(target=tail.drain, daemon=True)
    reader.start()
    status = process.wait()
    reader.join(TAIL_S)
    return status, tail.text()


class _Tail:
    """Tail of what a program prints, which is drained so that a full pipe never blocks it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._data = b""

    def drain(self) -> None:
        """Read until the last process that can write has closed it."""
        while data := os.read(self._pipe.fileno(), 65536):
            self._data = (self._data + data)[-TAIL_BYTES:]

    def text(self) -> str:
        """Return the end of it."""
        return self._data.decode("utf-8", "replace")


def _make_environment(folder: Path) -> dict[str, str]:
    """Make the folders that stand for a home, and return all the environment of the program."""
    for name in ("home", "tmp"):
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    kept = {name: value for name in ("PATH", "TZ") if (value := os.environ.get(name))}
    with contextlib.suppress(KeyError):
        # A person's own fonts are there; without them pages look otherwise than they are known.
        kept["XDG_DATA_HOME"] = str(Path(pwd.getpwuid(os.getuid()).pw_dir, ".local", "share"))
    return kept | {
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LC_ALL": "C.UTF-8",
        "SAL_USE_VCLPLUGIN": "svp",
    }


def _write_profile(folder: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.Office.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for path, values in PROFILE.items()
        for name, value in values.items()
    )
    folder.mkdir(mode=0o700, parents=True)
    (folder / "registrymodifications.xcu").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="{_SCHEMA}">{items}'
        "</oor:items>\n",
        encoding="utf-8",
    )
