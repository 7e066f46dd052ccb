"""A collector of OpenTelemetry on this machine, for tests of what is sent to it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from typing import Any

__all__ = ["TraceCollector", "collecting"]


class TraceCollector:
    """A collector that keeps what it gets.

    Attributes:
        address: Where it takes traces.
        answers: The statuses of its next answers; 200 after them.
        heads: The headers of each request.
    """

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/v1/traces"
        self.answers: list[int] = []
        self.heads: list[dict[str, str]] = []
        self._bodies: Queue[str] = Queue()

    def take(self, head: dict[str, str], body: str) -> int:
        """Take a request; return the status of the answer."""
        self.heads.append(head)
        self._bodies.put(body)
        return self.answers.pop(0) if self.answers else 200

    def receive(self, timeout_s: float = 60.0) -> list[dict[str, Any]] | None:
        """Return the spans of the next trace; None if none comes in time."""
        try:
            (resource,) = json.loads(self._bodies.get(timeout=timeout_s))["resourceSpans"]
        except Empty:
            return None
        return list(resource["scopeSpans"][0]["spans"])


@contextmanager
def collecting(port: int = 0) -> Iterator[TraceCollector]:
    """Run a collector at a port; any that is free if it is 0."""

    class Handler(BaseHTTPRequestHandler):
        """Hands on what comes."""

        def do_POST(self) -> None:
            """Take a trace."""
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status = collector.take({**self.headers, "path": self.path}, body)
            self.send_response(status)
            if status in range(300, 400):
                self.send_header("Location", f"{collector.address}/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        collector = TraceCollector(server.server_address[1])
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield collector
        finally:
            server.shutdown()
            serving.join()
