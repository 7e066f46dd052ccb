"""Zygote of one plugin: `python -I -X utf8 -m kbd.core.plugins.zygote PACKAGE FD`.

It imports the plugin, then forks a child for each call, reaps it and reports how it ended. After a
call it forks one ahead for the next (`spare_process`). It has one thread and runs none of the
plugin's code after the imports.
"""

import contextlib
import errno
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from kbd.core.plugins import forked_call
from kbd.core.plugins.confinement.process import (
    Software,
    find_filters,
    find_software,
    hide_process,
    take_orphans,
)
from kbd.core.plugins.spare_process import SpareProcess, wait_for_call
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

SPARE_MS = 30_000
"""Milliseconds without a call after which the spare process ends: it takes memory of its own."""


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
        self._warm_ups: Sequence[str] = ()
        self._spare: SpareProcess | None = None
        self._is_warmed = False
        """Whether the warm-ups have been seen to end: one that hangs must not cost calls."""

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
            for name in (self._package, *order.preload):
                importlib.import_module(name.partition(":")[0])
        except BaseException as fault:  # noqa: BLE001 - a plugin may also exit while it is imported
            trace = traceback.format_exc()[-forked_call.TRACE_CHARACTERS :]
            message = str(fault)[: forked_call.MESSAGE_CHARACTERS]
            self._report(StartFailed(type(fault).__name__, message, trace))
            return False
        signal.alarm(0)
        self._warm_ups = tuple(name for name in order.preload if ":" in name)
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
            ready = {fd for fd, _ in poll.poll(SPARE_MS if self._spare else None)}
            if not ready:
                self._drop_spare()
            if self._woken.fileno() in ready:
                self._woken.recv(PACKET_BYTES)
                self._reap()
            if self._control.fileno() in ready and not self._obey():
                break
        self._drop_spare()
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
                with socket.socket(fileno=fds[0]) as channel:
                    self._begin(call, packet, channel)
            case Kill(id=call_id) if call_id in self._pids:
                _kill_group(self._pids[call_id])
            # It has ended by itself meanwhile.
            case Kill() | Start():
                pass
        return True

    def _begin(self, call: Call, packet: bytes, channel: socket.socket) -> None:
        # Before the fork: if this process dies from here on, the call may have been made, and must
        # not be given to another zygote.
        self._report(Begun(call.id))
        try:
            pid = self._hand_to_spare(packet, channel) or self._fork(call, channel)
        except OSError as error:
            self._report(Ended(call.id, -(error.errno or errno.EAGAIN), 0))
            return
        self._pids[call.id] = pid
        if call.spawns:
            self._spawning.add(call.id)

    def _hand_to_spare(self, packet: bytes, channel: socket.socket) -> int | None:
        """Give a call to the spare process and return its pid, or None if there is none.

        It may still warm up, and leaves that for the call: two processes at work beside each other
        would take longer.
        """
        spare = self._spare
        if spare is None or not spare.is_ready():
            return None
        self._spare, self._is_warmed = None, True
        with contextlib.closing(spare):
            if spare.hand_over(packet, channel):
                return spare.pid
        # Its death is reaped as that of any other child.
        return None

    def _fork(self, call: Call, channel: socket.socket) -> int:
        """Fork for a call and return the child's pid.

        Raises:
            OSError: The system has no more processes, or no memory for one.
        """
        # Not a new interpreter: that takes 23 to 150 ms with its imports, a fork 4.2 (reliability
        # F14).
        pid = os.fork()
        if pid == 0:
            with self._left():
                forked_call.part_from_zygote(self._workplace.pid)
                forked_call.run_call(channel, call, self._workplace)
        return pid

    def _fork_spare(self) -> None:
        """Fork a process ahead for the next call; where the system has no more, there is none."""
        if self._spare is not None:
            return
        must_warm = not self._is_warmed
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError:
            return
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                return
            if pid == 0:
                with self._left():
                    ours.close()
                    wait_for_call(theirs, self._warm_ups, self._workplace, must_warm=must_warm)
        self._spare = SpareProcess(pid, ours, must_warm=must_warm)

    def _drop_spare(self) -> None:
        """End the spare process, if there is one."""
        if self._spare is not None:
            _kill_group(self._spare.pid)
            self._spare.close()
            self._spare = None

    @contextmanager
    def _left(self) -> Iterator[None]:
        """Leave the zygote for good in a child: its channels are closed, its loop is never met."""
        try:
            # A call must not speak on the zygote's channels, nor keep them open.
            signal.set_wakeup_fd(-1)
            for mine in (self._control, self._woken, self._waker):
                mine.close()
            if self._spare is not None:
                self._spare.close()
            yield
        finally:
            os._exit(0)

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
            if self._spare is not None and pid == self._spare.pid:
                self._spare.close()
                self._spare = None
            if pid in calls:
                self._pids.pop(calls[pid])
                ended.append(Ended(calls[pid], status, used.ru_maxrss * 1024))
        if not self._spawning.isdisjoint(each.id for each in ended):
            spare = () if self._spare is None else (self._spare.pid,)
            _end_strays((*self._pids.values(), *spare))
        self._spawning &= self._pids.keys()
        for report in ended:
            self._report(report)
        # Not while a call is at work: to warm up takes as much of the processor as a small call.
        if ended and not self._pids:
            self._fork_spare()

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
