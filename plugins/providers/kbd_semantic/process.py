"""Process of the model: it answers texts with vectors until it is not needed.

    python -I -m kbd_semantic.process FOLDER THREADS

Its socket is its standard input. It ends when the other side does, or when nothing was asked for
some minutes; then the memory is free, and the next request starts another one.
"""

import socket
import sys
from pathlib import Path

import msgspec

from kbd.errors import KbdError, ProviderNotConfigured, ProviderUnavailable
from kbd_semantic.folder import read_model
from kbd_semantic.messages import Answer, Failed, Texts, Vectors, receive, send

__all__ = ["IDLE_S", "answer_all", "main"]

IDLE_S = 300.0
"""Seconds that the process waits for another request."""


def main() -> None:
    """Serve the socket that is standard input."""
    folder, threads = sys.argv[1:]
    with socket.socket(fileno=0) as end:
        end.settimeout(IDLE_S)
        try:
            answer_all(end, Path(folder), int(threads))
        except (EOFError, OSError):
            pass  # nobody is there any more, or nobody asked for long


def answer_all(end: socket.socket, folder: Path, threads: int) -> None:
    """Load the model and answer requests, until the other side ends.

    A model that cannot be loaded is the answer to the first request.

    Raises:
        EOFError: The other side has ended.
        OSError: It broke off, or has asked nothing for `IDLE_S`.
    """
    try:
        model = read_model(folder)
        # The rest of the package, and so the daemon, goes without what this loads.
        from kbd_semantic.runner import Runner  # noqa: PLC0415 - 300 ms

        runner = Runner(model, threads)
    except ImportError as fault:
        receive(end)
        send(end, _failed(ProviderNotConfigured(f"a library is missing: {fault.name}")))
        return
    except KbdError as fault:
        receive(end)
        send(end, _failed(fault))
        return
    while True:
        asked = msgspec.msgpack.decode(receive(end), type=Texts)
        answer: Answer
        try:
            vectors = runner.embed(asked.texts, is_query=asked.is_query)
            answer = Vectors(vectors.astype("<f4", copy=False).tobytes(), vectors.shape[1])
        except KbdError as fault:
            answer = _failed(fault)
        except Exception as fault:  # noqa: BLE001 - whatever a text does, the next one is answered
            answer = _failed(
                ProviderUnavailable(f"the sentence model failed ({type(fault).__name__})")
            )
        send(end, answer)


def _failed(fault: KbdError) -> Failed:
    return Failed(fault.code, fault.message)


if __name__ == "__main__":
    main()
