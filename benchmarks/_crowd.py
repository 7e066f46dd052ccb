"""A crowd of clients in one process: idle, stalled, slow, half-open and fuzzing ones.

    python -m benchmarks._crowd SOCKET CLIENTS SECONDS SEED

Who is disconnected comes again. Prints one JSON object at the end: how often each kind connected,
how many answers came, and how many of them were internal errors (-32603), which are faults.
"""

import json
import random
import selectors
import socket
import sys
import time
from collections import Counter

__all__ = ["KINDS", "Crowd", "mutated"]

KINDS = {"stalled": 0.05, "slow": 0.05, "half-open": 0.05, "fuzzing": 0.05}
"""The share of each kind; the rest asks for a little once a second."""

ASKS = (
    b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo"}\n',
    b'{"jsonrpc":"2.0","id":"a","method":"EventsRead","params":{"workbench_id":"daemon"}}\n',
    b'{"jsonrpc":"2.0","id":2,"method":"EventsSubscribe","params":{"workbench_id":"daemon"}}\n',
    b'{"jsonrpc":"2.0","id":3,"method":"WorkbenchOpen","params":{"workbench_id":"%b"}}\n'
    % (b"0" * 16),
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}\n',
    b'[{"jsonrpc":"2.0","id":4,"method":"WorkbenchList"},{"jsonrpc":"2.0","method":"x"}]\n',
    b'Content-Length: 50\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo"} ',
)
PIECES = (
    *(b"[", b"]", b"{", b"}", b'"', b"\\", b",", b"\n", b"\0", b"\xff", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"1e999", b"NaN", b"9" * 400, b"[" * 200),
    b"Content-Length: 99\r\n\r\n",
)

PAUSES_S = {"idle": 1.0, "stalled": 0.2, "slow": 1.0, "half-open": 0.5, "fuzzing": 0.05}


def mutated(chance: random.Random) -> bytes:
    """Return requests with some of their bytes changed, left out, doubled or replaced."""
    raw = bytearray(b"".join(chance.choices(ASKS, k=chance.randint(1, 3))))
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(raw) + 1)
        match chance.randrange(4):
            case 0:
                raw[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del raw[place : place + chance.randint(1, 20)]
            case 2:
                raw[place:place] = raw[place : place + chance.randint(1, 60)]
            case _:
                raw[place : place + chance.randint(0, 3)] = chance.choice(PIECES)
    # DaemonShutdown is not among the requests, and no mutation spells it.
    return bytes(raw)


class Crowd:
    """Clients of all kinds, served by one loop.

    Args:
        path: The socket.
        clients: How many there are.
        seed: Of what the fuzzing ones send.
    """

    def __init__(self, path: str, clients: int, seed: int) -> None:
        self._path = path
        self._chance = random.Random(seed)
        self._selector = selectors.DefaultSelector()
        self.counts: Counter[str] = Counter()
        self._kinds = [kind for kind, share in KINDS.items() for _ in range(int(clients * share))]
        self._kinds += ["idle"] * (clients - len(self._kinds))

    def run(self, seconds: float) -> None:
        """Be a nuisance for so long."""
        until = time.monotonic() + seconds
        waiting: list[tuple[float, str, socket.socket | None]] = [
            (time.monotonic() + self._chance.random(), kind, None) for kind in self._kinds
        ]
        while time.monotonic() < until:
            now = time.monotonic()
            later = [each for each in waiting if each[0] > now]
            for at, kind, client in waiting:
                if at <= now:
                    acted = self._act(kind, client)
                    pause = PAUSES_S[kind] if acted else 0.5
                    later.append((now + pause, kind, acted))
            waiting = later
            self._read()
            time.sleep(0.005)
        for _, _, client in waiting:
            if client is not None:
                client.close()

    def _act(self, kind: str, client: socket.socket | None) -> socket.socket | None:
        """Do what such a client does; return it, or None if it is gone."""
        try:
            if client is None or client.fileno() < 0:
                client = self._connect(kind)
            if kind == "idle":
                client.send(ASKS[0])
            elif kind == "stalled":
                client.send(ASKS[2] + ASKS[1] * 20)
            elif kind == "slow":
                client.send(b'{"jsonrpc":"2.0"'[:1])
            elif kind == "half-open":
                client.send(ASKS[0] + b'{"half')
                client.shutdown(socket.SHUT_WR)
                raise ConnectionError
            else:
                client.send(mutated(self._chance))
        except BlockingIOError:
            return client
        except OSError:
            if client is not None:
                self._close(client)
            return None
        return client

    def _connect(self, kind: str) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(self._path)
        except OSError:
            client.close()
            raise
        client.settimeout(0)
        self.counts[f"{kind} connected"] += 1
        if kind != "stalled":
            self._selector.register(client, selectors.EVENT_READ)
        return client

    def _close(self, client: socket.socket) -> None:
        if client.fileno() >= 0:
            if client.fileno() in self._selector.get_map():
                self._selector.unregister(client)
            client.close()

    def _read(self) -> None:
        for key, _ in self._selector.select(0):
            client = key.fileobj
            assert isinstance(client, socket.socket)
            try:
                found = client.recv(65_536)
            except BlockingIOError:
                continue
            except OSError:
                found = b""
            if not found:
                self._selector.unregister(client)
                # Its next send fails, and it comes again.
                client.close()
                continue
            self.counts["answers"] += found.count(b'"jsonrpc"')
            self.counts["faults"] += found.count(b"-32603")


def main() -> None:
    """Run as a program."""
    path, clients, seconds, seed = sys.argv[1:]
    crowd = Crowd(path, int(clients), int(seed))
    crowd.run(float(seconds))
    print(json.dumps(crowd.counts))


if __name__ == "__main__":
    main()
