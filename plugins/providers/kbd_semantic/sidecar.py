"""Client of the model's process: started when it is needed, and again when it died."""

import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kbd.errors import ProviderUnavailable, error_with_code
from kbd_semantic.messages import Answer, Failed, Texts, Vectors, receive, send

__all__ = ["Sidecar"]

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
"""Environment of the process: no key, no home, no proxy."""

_END_S = 2.0
"""Seconds that a process may take to end by itself."""

_ANSWERS: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


class Sidecar:
    """The process of one model, for any number of threads.

    Requests are answered one after the other; a query goes before the passages that wait.

    Args:
        folder: The model's folder.
        threads: How many texts are made vectors beside each other.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        self._command = (str(folder), str(threads))
        self._turn = threading.Condition()
        self._is_taken = self._is_closed = False
        self._queries = 0
        self._process: _Process | None = None

    def ask(self, texts: Texts, timeout_s: float) -> Vectors:
        """Return the vectors of texts; starts the process if there is none.

        One that died is started once more, for it may have ended for lack of work.

        Raises:
            ProviderUnavailable: It died over this request, did not answer in time, or was closed.
            KbdError: What the process answers.
        """
        with self._exclusive_turn(is_query=texts.is_query):
            try:
                answer = self._exchange(texts, timeout_s)
            except _Ended:
                try:
                    answer = self._exchange(texts, timeout_s)
                except _Ended as ended:
                    raise ProviderUnavailable(
                        f"the process of the sentence model ended ({ended})"
                    ) from None
        match answer:
            case Vectors():
                return answer
            case Failed(code, message):
                raise error_with_code(code, message)

    def close(self) -> None:
        """End the process at once, over whatever it does, and start no other."""
        with self._turn:
            self._is_closed = True
            # Killed before the turn is waited for: whoever has it waits for this process.
            if self._process is not None:
                self._process.kill()
        with self._exclusive_turn(is_query=True):
            self._end()

    def _exchange(self, texts: Texts, timeout_s: float) -> Answer:
        with self._turn:
            if self._is_closed:
                raise ProviderUnavailable("the sentence model was let go of")
            if self._process is None:
                self._process = _Process(self._command)
            process, is_whole = self._process, False
        try:
            answer = process.exchange(texts, timeout_s)
            is_whole = isinstance(answer, Vectors)
            return answer
        except TimeoutError:
            raise ProviderUnavailable(
                f"the sentence model did not answer within {timeout_s:g} s"
            ) from None
        except (EOFError, OSError):
            raise _Ended(process.exit_reason()) from None
        finally:
            # After anything but an answer, the next request shall find a process that is sound.
            if not is_whole:
                self._end()

    def _end(self) -> None:
        with self._turn:
            process, self._process = self._process, None
        if process is not None:
            process.end()

    @contextmanager
    def _exclusive_turn(self, *, is_query: bool) -> Iterator[None]:
        with self._turn:
            self._queries += is_query
            try:
                # Passages wait while there is a query: it is answered first.
                self._turn.wait_for(lambda: not self._is_taken and (is_query or not self._queries))
            finally:
                self._queries -= is_query
            self._is_taken = True
        try:
            yield
        finally:
            with self._turn:
                self._is_taken = False
                self._turn.notify_all()


class _Ended(Exception):
    """The process ended before it had answered."""


class _Process:
    """One process that was started, and our end of its socket."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._end, theirs = socket.socketpair()
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-m", "kbd_semantic.process", *command],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                umask=0o077,
                env=_ENVIRONMENT,
            )
        # Ends the child also when nobody closes it, at the latest when the interpreter exits.
        self.end = weakref.finalize(self, _end, self._end, self._child)

    def exchange(self, texts: Texts, timeout_s: float) -> Answer:
        """Send texts and return what comes back; raises EOFError, OSError."""
        self._end.settimeout(timeout_s)
        send(self._end, texts)
        return _ANSWERS.decode(receive(self._end))

    def kill(self) -> None:
        """Kill it; whoever waits for its answer is told that it ended."""
        self._child.kill()

    def exit_reason(self) -> str:
        """Return the signal or exit status of its end."""
        try:
            status = self._child.wait(_END_S)
        except subprocess.TimeoutExpired:
            return "it closed its socket"
        return f"signal {-status}" if status < 0 else f"exit status {status}"


def _end(end: socket.socket, child: "subprocess.Popen[bytes]") -> None:
    end.close()
    try:
        child.wait(0.0)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
