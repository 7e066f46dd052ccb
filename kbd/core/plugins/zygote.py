"""Zygote of one plugin: `python -I -X utf8 -m kbd.core.plugins.zygote PACKAGE FD`.

It imports the plugin, then forks a child for each call, reaps it and reports how it ended. It has
one thread and runs none of the plugin's code after the imports.
"""

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Collection

import msgspec

from kbd.core.plugins import forked_call
from kbd.core.plugins.confinement.process import (
    Software,
    find_filters,
    find_software,
    hide_process,
    take_orphans,
)
from kbd.core.plugins.worker_messages import (
    PACKET_BYTES,
    Begun,
    Call,
    Ended,
    Kill,
    Order,
    Ready,
    Report,
    Start,
    StartFailed,
    encode,
)
from kbd.core.runtime.process_tree import find_children

__all__ = ["Zygote", "main"]

IMPORT_TIMEOUT_S = 300
"""Seconds after which an import that hangs ends the process, should the daemon be dead by then."""


class Zygote:
    """The loop of one zygote.

    Args:
        control: The channel to the daemon.
        package: The plugin's package.
    """

    def __init__(self, control: socket.socket, package: str) -> None:
        self._control = control
        self._package = package
        self._orders = msgspec.msgpack.Decoder(Order)
        self._woken, self._waker = socket.socketpair()
        self._pids: dict[int, int] = {}
        """The process of each call that has not ended."""
        self._spawning: set[int] = set()
        """The calls among them that can leave processes behind."""
        self._workplace = forked_call.Workplace(package, Software(), None, os.getpid())

    def start(self) -> bool:
        """Import the modules of the first order and report; return whether to continue."""
        signal.alarm(IMPORT_TIMEOUT_S)
        packet = self._control.recv(PACKET_BYTES)
        if not packet:
            return False
        order = self._orders.decode(packet)
        assert isinstance(order, Start)
        # First, so that a version from there is taken in place of the installed one.
        sys.path[:0] = order.paths
        try:
            for module in (self._package, *order.preload):
                importlib.import_module(module)
        except BaseException as fault:  # noqa: BLE001 - a plugin may also exit while it is imported
            trace = traceback.format_exc()[-forked_call.TRACE_CHARACTERS :]
            message = str(fault)[: forked_call.MESSAGE_CHARACTERS]
            self._report(StartFailed(type(fault).__name__, message, trace))
            return False
        signal.alarm(0)
        # What is imported stays shared with every child: the collector does not touch it.
        gc.collect()
        gc.freeze()
        # Processes that leave a call's group become our children, and are found.
        take_orphans()
        # As Python looks for modules by now: plugins may have added to it.
        software = find_software(sys.path, order.private)
        self._workplace = forked_call.Workplace(
            self._package, software, find_filters(), os.getpid()
        )
        self._report(Ready(threads=len(os.listdir("/proc/self/task"))))
        return True

    def serve(self) -> None:
        """Fork, reap and kill until the control channel ends; then kill what is left."""
        self._woken.settimeout(0)
        self._waker.settimeout(0)
        # Ctrl-C in a terminal is the daemon's to handle; it ends its zygotes itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # A handler that does nothing: without one the wakeup descriptor is not written.
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self._woken.fileno() in ready:
                self._woken.recv(PACKET_BYTES)
                self._reap()
            if self._control.fileno() in ready and not self._obey():
                break
        for pid in self._pids.values():
            _kill_group(pid)
        if self._spawning:
            _end_strays(())

    def _obey(self) -> bool:
        """Take one order; return False when the daemon is gone."""
        packet, fds, _, _ = socket.recv_fds(self._control, PACKET_BYTES, 1)
        if not packet:
            return False
        match self._orders.decode(packet):
            case Call() as call:
                self._fork(call, socket.socket(fileno=fds[0]))
            case Kill(id=call_id) if call_id in self._pids:
                _kill_group(self._pids[call_id])
            # It has ended by itself meanwhile.
            case Kill() | Start():
                pass
        return True

    def _fork(self, call: Call, channel: socket.socket) -> None:
        # Before the fork: if this process dies from here on, the call may have been made, and must
        # not be given to another zygote.
        self._report(Begun(call.id))
        zygote = os.getpid()
        try:
            # Not a new interpreter: that takes 23 to 150 ms with its imports, a fork 4.2
            # (reliability F14).
            pid = os.fork()
        except OSError:
            self._report(Ended(call.id, -1, 0))
            return
        finally:
            if os.getpid() == zygote:
                channel.close()
        if pid == 0:
            try:
                # A call must not speak on the zygote's channels, nor keep them open.
                signal.set_wakeup_fd(-1)
                for mine in (self._control, self._woken, self._waker):
                    mine.close()
            finally:
                forked_call.run_call(channel, call, self._workplace)
        self._pids[call.id] = pid
        if call.spawns:
            self._spawning.add(call.id)

    def _reap(self) -> None:
        calls = {pid: call_id for call_id, pid in self._pids.items()}
        ended = []
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if found is None:
                break
            pid = found.si_pid
            if pid in calls:
                # Still a zombie, so that its number is nobody else's: the rest of its group goes.
                _kill_group(pid)
            _, status, used = os.wait4(pid, 0)
            if pid in calls:
                self._pids.pop(calls[pid])
                ended.append(Ended(calls[pid], status, used.ru_maxrss * 1024))
        if not self._spawning.isdisjoint(each.id for each in ended):
            _end_strays(self._pids.values())
        self._spawning &= self._pids.keys()
        for report in ended:
            self._report(report)

    def _report(self, report: Report) -> None:
        try:
            self._control.send(encode(report))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the daemon is gone; the end of the channel says so next


def _kill_group(pid: int) -> None:
    """Kill a child that is not reaped yet, and its group if it has made one by now."""
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _end_strays(calls: Collection[int]) -> None:
    """Kill and reap all children that are no calls: what a call has left behind.

    While a call lives, what leaves its parent below it is the call's child, not the zygote's.
    """
    while strays := [pid for pid in find_children(os.getpid()) if pid not in calls]:
        for pid in strays:
            _kill_group(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def main() -> None:
    """Run as a program."""
    # What it imports, and what its calls read, is nobody else's.
    hide_process()
    package, fd = sys.argv[1:]
    zygote = Zygote(socket.socket(fileno=int(fd)), package)
    if zygote.start():
        zygote.serve()


if __name__ == "__main__":
    main()
