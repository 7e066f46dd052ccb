"""Worker process seen from the daemon: starts one zygote, sends it calls, receives outcomes.

Each call has a channel of its own: one request, one answer, then nothing.
"""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
from anyio import to_thread

from kbd.core.plugins.confinement.layers import Layers
from kbd.core.plugins.confinement.process import CallReach
from kbd.core.plugins.worker_messages import (
    ERROR_BYTES,
    LENGTH_BYTES,
    PACKET_BYTES,
    Begun,
    Call,
    Ended,
    Kill,
    Ready,
    Report,
    Start,
    StartFailed,
    encode,
)
from kbd.core.runtime.process_tree import kill_tree
from kbd.core.runtime.secrets import inherited_environment
from kbd.errors import ToolWorkerUnavailable
from kbd.events.shortages import raise_shortage
from kbd.tools import CallLimits

__all__ = ["Bounds", "FinishedCall", "WorkerGone", "WorkerProcess", "exchange"]


async def exchange(channel: socket.socket, messages: Sequence[bytes], limit: int) -> bytes | None:
    """Send messages and return the answer, or None if the other side ends before it is whole.

    None, too, for one that says it is longer than the limit: the other side can send no more then.
    """
    framed = b"".join(len(each).to_bytes(LENGTH_BYTES) + each for each in messages)
    message = memoryview(framed)
    try:
        while message:
            try:
                message = message[channel.send(message) :]
            except BlockingIOError:
                await anyio.wait_writable(channel)
        header = await _receive(channel, LENGTH_BYTES)
        size = int.from_bytes(header)
        # The length is the word of a process that a file may have taken over.
        if size <= limit:
            return await _receive(channel, size)
        # It would wait until somebody reads on, for as long as a call may take.
        channel.shutdown(socket.SHUT_RDWR)
        return None
    except (BrokenPipeError, ConnectionResetError, EOFError):
        return None


async def _receive(channel: socket.socket, size: int) -> bytes:
    """Return exactly so many bytes.

    Raises:
        EOFError: The other side ended before.
    """
    received = bytearray()
    while len(received) < size:
        try:
            data = channel.recv(min(size - len(received), 1 << 20))
        except BlockingIOError:
            await anyio.wait_readable(channel)
            continue
        if not data:
            raise EOFError
        received += data
        # Who writes byte by byte has always one more to read, and others would wait.
        await anyio.lowlevel.checkpoint()
    return bytes(received)


FIXED_VARIABLES = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "OPENBLAS_NUM_THREADS": "1"}
"""The rest of what it sees: the same work gives the same bytes under any locale and time zone, and
a library that brings numpy along, as openpyxl does where it finds it, starts no threads: a process
that forks must have one."""

_ZYGOTE = "kbd.core.plugins.zygote"

NOISE_BYTES = 4096
"""How much of the end of what was printed is kept for the daemon's own log."""

KILL_TIMEOUT_S = 5.0
"""Seconds in which a killed call must be reported as ended, else its zygote is killed, too."""

EXIT_TIMEOUT_S = 1.0
"""Seconds in which a process must have ended that has answered, else it is killed."""


class WorkerGone(Exception):
    """The zygote died before it took the call; the call may go to a new one."""


class FinishedCall(msgspec.Struct, frozen=True):
    """A finished call: its answer and how its process ended, or that it is about to.

    Args:
        answer: The answer's bytes, or None if none came, or not all of it.
        status: The status of `waitpid`; None if the zygote died with the call, or if it has not
            ended.
        timed_out: Whether the wall limit passed.
        peak_bytes: The most memory that it had at once, what it shares with its zygote included.
        ending: Where the process has answered and not ended: waits until it is reaped, kills it if
            it goes on, and returns its `peak_bytes`. It must be awaited.
    """

    answer: bytes | None
    status: int | None
    timed_out: bool = False
    peak_bytes: int = 0
    ending: Callable[[], Awaitable[int]] | None = None


class Bounds(msgspec.Struct, frozen=True):
    """Bounds of a call: what it may reach, and the layers of the system that hold it there."""

    reach: CallReach
    layers: Layers

    @property
    def spawns(self) -> bool:
        """Whether it can start processes."""
        return bool(self.reach.program) or not self.layers.seccomp

    @property
    def leaves_nothing(self) -> bool:
        """Whether a process of it has nothing to do once it has answered: no file, no child."""
        return not (self.reach.folders or self.spawns)


class _PendingCall:
    """A call that was handed to the zygote and has not ended."""

    def __init__(self) -> None:
        self.begun = False
        self.ended = anyio.Event()
        self.status: int | None = None
        self.peak_bytes = 0


# Not anyio.to_process: there what is printed breaks the protocol, `sys.exit()` in a worker raises
# SystemExit in the daemon, and what a call started outlives it (facts/performance.md E).
class WorkerProcess:
    """Process of one zygote; `start` launches it, `serve` must run for as long as it is used."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, noise: int
    ) -> None:
        self._process = process
        self._control = control
        self._noise = noise
        self._tail = b""
        self._sending = anyio.Lock()
        self._reports = msgspec.msgpack.Decoder(Report)
        self._pending: dict[int, _PendingCall] = {}
        self._last_id = 0
        self._stopped = False
        self.threads = 1
        self.alive = True

    @classmethod
    async def start(
        cls,
        package: str,
        preload: Sequence[str],
        paths: Sequence[Path],
        start_s: float,
        private: Path | None = None,
    ) -> "WorkerProcess":
        """Spawn a zygote and wait until it has imported its modules.

        Args:
            package: The plugin's package.
            preload: Modules that it imports beside it.
            paths: Folders that it looks for modules in first.
            start_s: Seconds that it may take.
            private: A folder of which no call may read anything but what it is given.

        Raises:
            ToolWorkerUnavailable: An import failed, or took too long, or the process died. The
                import's trace is in `detail["trace"]`, for the daemon's own log.
        """
        # Packets, not a stream: one arrives whole, together with its descriptor.
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.settimeout(0)
        try:
            noise, their_noise = os.pipe()
        except OSError:
            control.close()
            theirs.close()
            raise
        os.set_blocking(noise, False)
        try:
            # In a thread, because it waits for the exec; hence no PDEATHSIG for it, which would
            # fire when that thread ends. A zygote leaves when its control channel ends.
            process = await to_thread.run_sync(_spawn, package, theirs.fileno(), their_noise)
        except BaseException:
            control.close()
            os.close(noise)
            raise
        finally:
            theirs.close()
            os.close(their_noise)
        worker = cls(process, control, noise)
        try:
            with anyio.fail_after(start_s):
                places = tuple(str(path) for path in paths)
                await worker._begin(package, Start(places, tuple(preload), str(private or "")))
        except TimeoutError:
            await worker.stop()
            msg = f"the worker of {package} was not ready in {start_s:g} s"
            raise ToolWorkerUnavailable(msg) from None
        except BaseException:
            await worker.stop()
            raise
        return worker

    async def _begin(self, package: str, start: Start) -> None:
        await self._send(encode(start))
        match await self._report():
            case Ready(threads=threads):
                self.threads = threads
            case StartFailed(kind=kind, trace=trace):
                msg = f"the worker of {package} could not start: {kind} while it was imported"
                raise ToolWorkerUnavailable(msg, detail={"trace": trace})
            case Begun() | Ended() | None:
                msg = f"the worker of {package} died while it was imported"
                raise ToolWorkerUnavailable(msg, detail={"trace": self.noise()})

    async def serve(self) -> None:
        """Read the zygote's reports and drain what is printed, until it dies."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._drain)
                while (report := await self._report()) is not None:
                    self._note(report)
                tasks.cancel_scope.cancel()
        finally:
            self.alive = False
            for pending in self._pending.values():
                pending.ended.set()

    def _note(self, report: Report) -> None:
        match report:
            case Begun(id=call_id) if call_id in self._pending:
                self._pending[call_id].begun = True
            case Ended(id=call_id) if call_id in self._pending:
                self._pending[call_id].status = report.status
                self._pending[call_id].peak_bytes = report.peak_bytes
                self._pending[call_id].ended.set()
            case Begun() | Ended() | Ready() | StartFailed():
                pass

    async def call(self, request: bytes, limits: CallLimits, bounds: Bounds) -> FinishedCall:
        """Have one call made and wait until its process is reaped.

        Where the process leaves nothing, its answer is returned at once: to unmap what a library
        had mapped takes as long as a small call. Cancelling this kills the call's group, and
        returns when it is dead.

        Args:
            request: The packed `Request`.
            limits: What it may use.
            bounds: What it may reach.

        Raises:
            WorkerGone: The zygote died before it took the call.
        """
        if not self.alive:
            raise WorkerGone
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        self._last_id += 1
        call_id, pending = self._last_id, _PendingCall()
        self._pending[call_id] = pending
        answer: bytes | None = None
        sent = answered = False
        try:
            with anyio.move_on_after(limits.wall_s) as wall:
                order = Call(call_id, limits, bounds.layers, bounds.spawns)
                await self._send(encode(order), theirs.fileno())
                sent = True
                # With this end closed here, reading ends when the call's process does.
                theirs.close()
                messages = (encode(bounds.reach), request)
                answer = await exchange(ours, messages, limits.result_bytes + ERROR_BYTES)
                if answered := answer is not None and bounds.leaves_nothing:
                    return FinishedCall(answer, None, ending=partial(self._end, call_id, pending))
                await pending.ended.wait()
            # The zygote died and had not begun: nothing was done, so another one may take the call.
            if pending.status is None and not (pending.begun or wall.cancelled_caught):
                raise WorkerGone
            if wall.cancelled_caught and sent and not pending.ended.is_set():
                await self._kill(call_id, pending)
            return FinishedCall(
                answer,
                pending.status,
                timed_out=wall.cancelled_caught,
                peak_bytes=pending.peak_bytes,
            )
        finally:
            try:
                if sent and not (answered or pending.ended.is_set()):
                    await self._kill(call_id, pending)
            finally:
                if not answered:
                    del self._pending[call_id]
                ours.close()
                theirs.close()

    async def _end(self, call_id: int, pending: _PendingCall) -> int:
        """Wait until the process of an answered call is reaped; kill it if it goes on.

        Returns:
            The most memory that it had, in bytes.
        """
        try:
            with anyio.move_on_after(EXIT_TIMEOUT_S):
                await pending.ended.wait()
        finally:
            try:
                if not pending.ended.is_set():
                    await self._kill(call_id, pending)
            finally:
                del self._pending[call_id]
        return pending.peak_bytes

    async def stop(self) -> None:
        """End the zygote and with it all its calls, and reap it; a second time does nothing."""
        self.alive = False
        if self._stopped:
            return
        self._stopped = True
        with anyio.CancelScope(shield=True):
            self._control.close()
            with anyio.move_on_after(KILL_TIMEOUT_S):
                # Its end of the channel is closed, so it leaves by itself, unless it hangs.
                await to_thread.run_sync(self._reap_for, KILL_TIMEOUT_S / 2)
            os.close(self._noise)

    def noise(self) -> str:
        """Return the end of what it and its calls have printed."""
        with contextlib.suppress(OSError):
            while not self._stopped and (data := os.read(self._noise, PACKET_BYTES)):
                self._tail = (self._tail + data)[-NOISE_BYTES:]
        return self._tail.decode("utf-8", "replace")

    def _reap_for(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill_tree(self._process.pid)
            self._process.wait()

    async def _kill(self, call_id: int, pending: _PendingCall) -> None:
        with anyio.CancelScope(shield=True):
            try:
                self._control.send(encode(Kill(call_id)))
            except OSError:
                # It cannot be told; its own death takes its calls along.
                self._process.kill()
            with anyio.move_on_after(KILL_TIMEOUT_S):
                await pending.ended.wait()
                return
            # It does not obey: it goes, with all that is below it. In a thread, for all processes
            # of the machine are looked through.
            await to_thread.run_sync(kill_tree, self._process.pid)

    async def _report(self) -> Report | None:
        """Return the zygote's next report, or None when it has died."""
        while True:
            try:
                packet = self._control.recv(PACKET_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._control)
                continue
            except OSError:
                return None
            if not packet:
                return None
            try:
                report: Report = self._reports.decode(packet)
                return report
            except msgspec.DecodeError:
                # No packet of ours; whatever wrote it is not to be trusted with more.
                return None

    async def _send(self, packet: bytes, fd: int | None = None) -> None:
        # anyio lets one task at a time wait for a descriptor.
        async with self._sending:
            while True:
                try:
                    socket.send_fds(self._control, [packet], [] if fd is None else [fd])
                    return
                except BlockingIOError:
                    await anyio.wait_writable(self._control)
                except OSError as fault:
                    raise_shortage(fault)
                    raise WorkerGone from fault

    async def _drain(self) -> None:
        """Read what is printed, so that nobody who prints ever waits; keep the end of it."""
        while True:
            try:
                data = os.read(self._noise, PACKET_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._noise)
                continue
            if not data:
                return
            self._tail = (self._tail + data)[-NOISE_BYTES:]
            await anyio.lowlevel.checkpoint()


def _spawn(package: str, control: int, noise: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # Text is UTF-8 even where the system lacks that locale.
        [
            sys.executable,
            "-I",
            "-X",
            "utf8",
            "-m",
            _ZYGOTE,
            package,
            str(control),
        ],
        # What a call starts may read it, and finds the end instead of waiting.
        stdin=subprocess.DEVNULL,
        stdout=noise,
        stderr=noise,
        pass_fds=(control,),
        # Ctrl-C in the daemon's terminal goes to its whole group, and is the daemon's to handle.
        start_new_session=True,
        cwd="/",
        umask=0o077,
        env=inherited_environment() | FIXED_VARIABLES,
    )
