"""Entry point of the proof's process: one order on standard input, one answer on standard output.

What plugins print goes to standard error. The process ends, and leaves nothing behind, when it is
told to (SIGTERM) and when the daemon is gone, which the end of its standard input says.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.plugin_replacement import (
    check_loaded,
    copy_package,
    plugin_packages,
    with_replaced_version,
)
from kbd.core.audit.proof import prove
from kbd.core.audit.proof_process import ProofAnswer, ProofOrder, ProofRefused, Proved
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import GROUP, installed_entry_points
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime import diagnostics
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.errors import KbdError

__all__ = ["main"]

STOP_S = 5
"""Seconds after which the process is gone that was told to stop."""

STOPPED = 3
"""The exit code of a proof that was told to stop."""


def main() -> int:
    """Read the order, prove the run, write the answer; return the exit code."""
    # What plugins print must not mix with the answer, which gets a descriptor of its own.
    answers = os.dup(sys.stdout.fileno())
    # The descriptor, not only `sys.stdout`: libraries in C and child processes print, too.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    diagnostics.configure(sys.stderr, json=True)
    order = msgspec.json.decode(_read_line(sys.stdin.fileno()), type=ProofOrder)
    try:
        answer = anyio.run(_answer, order)
    finally:
        shutil.rmtree(order.scratch, ignore_errors=True)
    if answer is None:
        return STOPPED
    with os.fdopen(answers, "wb") as stream:
        stream.write(msgspec.json.encode(answer))
    return 0


def _read_line(descriptor: int) -> bytes:
    """Read one line and nothing behind it: the end of what follows is waited for elsewhere."""
    with os.fdopen(os.dup(descriptor), "rb") as stream:
        return stream.readline()


async def _answer(order: ProofOrder) -> ProofAnswer | None:
    """Return the answer, or None if nobody waits for it any more."""
    answer: ProofAnswer | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
        tasks.start_soon(_stop_at_end_of_input, tasks.cancel_scope)
        answer = await _prove(order)
        tasks.cancel_scope.cancel()
    return answer


async def _prove(order: ProofOrder) -> ProofAnswer:
    scratch = Path(order.scratch)
    try:
        plugins, paths = await run_sync(_load_plugins, order, scratch)
    except KbdError as error:
        return _refusal(error)
    folders = WorkbenchFolders(id=order.workbench_id, root=Path(order.root))
    # The folder of all workbenches and what is beside it, in this home as in a copy of one.
    home = folders.root.parent.parent
    async with WorkerPool(plugins, order.settings, extra_paths=paths, private=home) as workers:
        try:
            found = await prove(
                folders,
                order.run,
                scratch,
                catalog=await run_sync(Catalog, plugins),
                workers=workers,
                settings=order.settings,
                until=order.until,
            )
        except KbdError as error:
            return _refusal(error)
    return Proved(found)


def _refusal(error: KbdError) -> ProofRefused:
    return ProofRefused(error.code, error.message, error.retryable, error.actions, error.detail)


def _load_plugins(order: ProofOrder, scratch: Path) -> tuple[Plugins, list[Path]]:
    """Load the plugins, with another version of one if that is wanted.

    Raises:
        ValidationFailed: That is none, or cannot be used.
    """
    points = installed_entry_points(GROUP, sys.path)
    if order.with_plugin is None:
        return _forgiven(Plugins.discover(order.settings, found=points)), []
    taken = copy_package(Path(order.with_plugin), scratch / "plugin", plugin_packages(points))
    # Before the installed version, whose package has the same name.
    sys.path.insert(0, str(taken.folder))
    points = with_replaced_version(points, taken)
    plugins = Plugins.discover(order.settings, found=points)
    check_loaded(plugins, points, taken)
    return _forgiven(plugins), [taken.folder]


def _forgiven(plugins: Plugins) -> Plugins:
    """Have no plugin left out: each call that failed is to fail as it did, the fourth as well."""
    plugins.faults.exempt = {status.name for status in plugins.statuses}
    return plugins


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            _stop(scope)


async def _stop_at_end_of_input(scope: anyio.CancelScope) -> None:
    await anyio.wait_readable(sys.stdin.fileno())
    _stop(scope)


def _stop(scope: anyio.CancelScope) -> None:
    """End in order; an import that hangs, in a thread that nothing can cancel, is cut off."""
    signal.alarm(STOP_S)
    scope.cancel()


if __name__ == "__main__":
    sys.exit(main())
