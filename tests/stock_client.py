"""A stock JSON-RPC client, just as it is installed: python-lsp-jsonrpc, over Content-Length."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

__all__ = ["Stock", "stock_client"]


class Stock(dict[str, Callable[[Any], None]]):
    """A connection, which is also what the client looks its handlers of notifications up in.

    Attributes:
        endpoint: The client itself.
        told: The notifications, in order.
    """

    endpoint: Endpoint

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, Any]] = []

    def __missing__(self, method: str) -> Callable[[Any], None]:
        return lambda params: self.told.append((method, params))

    def ask(self, method: str, params: Any = None) -> Any:
        """Ask and wait for the answer."""
        return self.endpoint.request(method, params).result(timeout=60)


@contextmanager
def stock_client(path: str) -> Iterator[Stock]:
    """Connect to a daemon."""
    stock = Stock()
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect(path)
        with connected.makefile("rb") as reading, connected.makefile("wb") as writing:
            writer, reader = JsonRpcStreamWriter(writing), JsonRpcStreamReader(reading)
            stock.endpoint = Endpoint(stock, writer.write)
            thread = threading.Thread(target=reader.listen, args=(stock.endpoint.consume,))
            thread.start()
            try:
                yield stock
            finally:
                connected.shutdown(socket.SHUT_RDWR)
                thread.join()
                stock.endpoint.shutdown()
