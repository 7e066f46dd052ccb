"""Rig of a taken-over worker: `python taken_rig.py ORDER` prints what each act came to, as JSON.

It stands for the daemon: it has a home with a key in it, the socket, and workers with a plugin that
was taken over. It runs as a plain user, without any capability, whoever starts the tests.
"""

import contextlib
import ctypes
import importlib
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import TaskGroup

from kbd.core.plugins.confinement.layers import Layers
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import Sandbox, WorkerPool
from kbd.core.runtime.process_tree import find_children
from kbd.core.runtime.secrets import hide_environment
from kbd.core.runtime.settings import SandboxMode, Settings, WorkerLimits
from kbd.errors import KbdError
from kbd.tools import CallLimits

PACKAGES = Path(__file__).parent / "core" / "plugins" / "packages"


ACTS = PACKAGES / "kbd_taken" / "acts.py"

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22


class TakenOrder(msgspec.Struct, frozen=True):
    """Order to let a worker be taken over.

    Args:
        folder: Where the home is made: an empty folder with a short path.
        backend: "asyncio" or "trio".
        mode: The setting of the sandbox.
        layers: The layers that calls get in place of those of the mode.
        without_landlock: Whether to hide Landlock, as a kernel without it does.
        program: Whether a program that prints is taken over, in place of a call that parses.
    """

    folder: str
    backend: str
    mode: SandboxMode
    layers: Layers | None = None
    without_landlock: bool = False
    program: bool = False


def take_over(order: TakenOrder) -> dict[str, str]:
    """Return what each act came to: "" where it succeeded; run in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, msgspec.json.encode(order).decode()],
        capture_output=True, text=True, check=False, timeout=120, preexec_fn=_drop_capabilities,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def _drop_capabilities() -> None:
    # What a program is given when it is started; a plain user has none, and nothing happens.
    for capability in range(64):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _hide_landlock() -> None:
    """Answer its calls as a kernel does that has none, for this process and all that it starts."""
    program = b"".join(
        struct.pack("=HBBI", *each)
        for each in (
            (0x20, 0, 0, 0),  # the number of the call
            (0x35, 0, 2, 444),  # from landlock_create_ruleset
            (0x25, 1, 0, 446),  # to landlock_restrict_self
            (0x06, 0, 0, 0x00050000 | 38),  # ENOSYS
            (0x06, 0, 0, 0x7FFF0000),
        )
    )
    libc = ctypes.CDLL(None, use_errno=True)
    held = ctypes.create_string_buffer(program)
    packed = struct.pack("@HP", len(program) // 8, ctypes.addressof(held))
    assert libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(_PR_SET_SECCOMP, 2, packed, 0, 0) == 0


async def _let_act(order: TakenOrder) -> dict[str, str]:
    home = Path(order.folder, "home")
    targets = _make_home(home) | {"stray": f"stray{os.getpid()}"}
    plugins = Plugins.discover(Settings(), found=[EntryPoint("taken", "kbd_taken")])
    settings = Settings(workers=WorkerLimits(sandbox=order.mode, wall_s=20))
    found: dict[str, str] = {}
    with _Listening(targets["socket"]) as (_, tcp, udp, _):
        targets |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        pool = WorkerPool(plugins, settings, extra_paths=[PACKAGES], private=home)
        if order.layers is not None:
            pool._sandbox = _FixedSandbox(order.layers)
        async with pool as workers, anyio.create_task_group() as tasks:
            call = partial(workers.call, "taken")
            try:
                targets |= await _processes(call, pool, tasks)
            except KbdError as error:
                return {"no call": error.message}
            if order.program:
                program = _make_program(Path(order.folder))
                arguments = {"program": str(program), "targets": targets}
                found = await call("kbd_taken.acts:run_acts", arguments, program=program)
                tasks.cancel_scope.cancel()
                return found
            for name in importlib.import_module("kbd_taken.acts").ACTS:
                found[name] = await _attempt(call, name, targets)
            found["keep a stray alive"] = _find(targets["stray"])
            tasks.cancel_scope.cancel()
    return found


async def _processes(call: Any, pool: WorkerPool, tasks: TaskGroup) -> dict[str, int]:
    """Start a sibling, and return the processes that an act may be after."""
    name = f"held{os.getpid()}"
    # By another name, for it may not have ended when its answer is there.
    await call("kbd_taken.acts:hold", {"seconds": 0.0, "name": "started"})
    held = {"seconds": 600.0, "name": name}
    tasks.start_soon(call, "kbd_taken.acts:hold", held, CallLimits(wall_s=600))
    zygote = pool._alive["taken"]._process.pid
    # A process that waits for a call is none that has one.
    while not (  # noqa: ASYNC110 - the system starts it
        siblings := [pid for pid in find_children(zygote) if _has_name(Path(f"/proc/{pid}"), name)]
    ):
        await anyio.sleep(0.01)
    return {"zygote": zygote, "sibling": siblings[0], "daemon": os.getpid()}


async def _attempt(call: Any, name: str, targets: Mapping[str, Any]) -> str:
    try:
        answer: str = await call("kbd_taken.acts:attempt", {"name": name, "targets": targets})
        return answer
    except KbdError as error:
        # To run a program is to answer nothing.
        return (
            ""
            if name == "run a program" and "exited with status 0" in error.message
            else (error.code)
        )


def _make_home(home: Path) -> dict[str, Any]:
    other = home / "workbenches" / "0123456789abcdef" / "blobs" / "ab"
    other.mkdir(parents=True, mode=0o700)
    files = {
        "key": home.parent / "id_key",
        "settings": home / "settings.toml",
        "workbench": other / ("ab" * 32),
        "victim": home / "victim",
        "spare": home / "spare",
    }
    for path in files.values():
        path.write_text("secret")
        path.chmod(0o600)
    named = {name: str(path) for name, path in files.items()}
    return {
        **named,
        "folder": str(home),
        "socket": str(home / "kbd.sock"),
        "messages": str(home / "kbd.sock.messages"),
    }


def _make_program(folder: Path) -> Path:
    program = folder / "office" / "office"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I {ACTS} "$@"\n')
    program.chmod(0o700)
    return program


class _Listening:
    """Sockets that wait for a connection or a message, as an attacker would like."""

    def __init__(self, path: str) -> None:
        self._sockets = (
            socket.socket(socket.AF_UNIX),
            socket.socket(socket.AF_INET),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
        )
        self._path = path

    def __enter__(self) -> tuple[socket.socket, ...]:
        unix, tcp, udp, messages = self._sockets
        unix.bind(self._path)
        messages.bind(f"{self._path}.messages")
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        unix.listen()
        tcp.listen()
        return self._sockets

    def __exit__(self, *fault: object) -> None:
        for each in self._sockets:
            each.close()


class _FixedSandbox(Sandbox):
    """A sandbox of just these layers."""

    def __init__(self, layers: Layers) -> None:
        super().__init__("best_effort", ())
        self._fixed = layers

    @property
    def layers(self) -> Layers:
        """The layers."""
        return self._fixed


def _find(name: str) -> str:
    """Return "" if a process of that name is alive."""
    found = any(_has_name(process, name) for process in Path("/proc").glob("[0-9]*"))
    return "" if found else "none"


def _has_name(process: Path, name: str) -> bool:
    """Tell whether a process in /proc is alive and has a name."""
    with contextlib.suppress(OSError):
        return (process / "comm").read_text().strip() == name
    return False


if __name__ == "__main__":
    given = msgspec.json.decode(sys.argv[1], type=TakenOrder)
    if given.without_landlock:
        _hide_landlock()
    hide_environment()
    sys.path.append(str(PACKAGES))
    print(json.dumps(anyio.run(_let_act, given, backend=given.backend)))
