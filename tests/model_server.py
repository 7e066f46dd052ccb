"""A server on this machine that plays a model from a function, and makes vectors of words."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from meanings import vector_of

__all__ = ["ModelServer", "call", "calls", "failure", "model_server", "phase_of", "text", "turn_of"]

Reply = dict[str, Any]
Play = Callable[[dict[str, Any]], Reply]


def text(said: str) -> Reply:
    """Return a turn of text."""
    return {"content": said}


def call(name: str, arguments: Any, call_id: str = "") -> dict[str, Any]:
    """Return one tool call; arguments that are text are sent as they are."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id or f"call_{name}", "name": name, "arguments": written}


def calls(*wanted: dict[str, Any]) -> Reply:
    """Return a turn of tool calls."""
    return {"tool_calls": wanted}


def phase_of(body: dict[str, Any]) -> str:
    """Tell the phase of a request by the tools it offers, as a model could."""
    names = {tool["function"]["name"] for tool in body.get("tools", ())}
    if "write_text_file" in names:
        return "implement"
    if names == {"read_file", "recall_tool_result"}:
        return "plan"
    return "research" if names else "no tools"


def failure(status: int, said: str = "") -> Reply:
    """Return an HTTP status in the place of a turn; what is said is in its body and a header."""
    return {"status": status, "said": said}


def turn_of(body: dict[str, Any]) -> int:
    """Tell how many turns the model has answered in this chain."""
    return sum(message["role"] == "assistant" for message in body["messages"])


class ModelServer:
    """What was asked, and where to ask.

    Attributes:
        base_url: For `OPENAI_BASE_URL`.
        requests: The bodies received, in order.
        listing: The status of the answer to who asks for the list of models.
        authorization: The last header that named a key.
        embedded: The bodies that asked for vectors, in order.
        meanings: Which word stands for which other in them, as `meanings.vector_of` takes it.
        troubles: What the next requests for vectors get instead of them, in order: a `failure`, an
            answer, or `{"silence_s": 60}`.
        over: Set when it serves no more.
    """

    def __init__(self, play: Play, port: int = 0, host: str = "127.0.0.1") -> None:
        self.requests: list[dict[str, Any]] = []
        self.listing = 200
        self.authorization = ""
        self.embedded: list[dict[str, Any]] = []
        self.meanings: dict[str, str] = {}
        self.troubles: list[Reply] = []
        self.over = threading.Event()
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                script.authorization = self.headers.get("authorization", "")
                if self.path.endswith("/embeddings"):
                    reply = script.embed(body)
                    if script.over.wait(reply.get("silence_s", 0.0)):
                        return
                else:
                    script.requests.append(body)
                    reply = play(body)
                self.send_response(reply.get("status", 200))
                if "status" in reply:
                    self.send_header("x-said", reply.get("said", ""))
                    if "retry_after" in reply:
                        self.send_header("retry-after", reply["retry_after"])
                    self.end_headers()
                    told = {"error": {"message": reply.get("said", "")}}
                    self.wfile.write(json.dumps(told).encode())
                    return
                if "data" in reply:
                    self.send_header("content-type", "application/json")
                    self.end_headers()
                    self.wfile.write(json.dumps(reply).encode())
                    return
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for piece in _stream(reply):
                    self.wfile.write(b"data: " + json.dumps(piece).encode() + b"\n\n")
                self.wfile.write(b"data: [DONE]\n\n")

            def do_GET(self) -> None:
                found = json.dumps({"object": "list", "data": []}).encode()
                self.send_response(script.listing)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - theirs, too
                """Say nothing."""

        self._server = ThreadingHTTPServer((host, port), Handler)
        self.base_url = f"http://{host}:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def start(self) -> None:
        """Serve."""
        self._thread.start()

    def embed(self, body: dict[str, Any]) -> Reply:
        """Answer a request for vectors, or cause the next trouble."""
        self.embedded.append(body)
        if self.troubles:
            return self.troubles.pop(0)
        rows = [
            {"object": "embedding", "index": place, "embedding": vector_of(text, self.meanings)}
            for place, text in enumerate(body["input"])
        ]
        tokens = sum(len(text.split()) for text in body["input"])
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": rows, "model": body["model"], "usage": usage}

    def stop(self) -> None:
        """Serve no more, and end what is silent."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _stream(reply: Reply) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a turn: text in two pieces, arguments in pieces of a megabyte."""
    said = reply.get("content", "")
    for piece in (said[: len(said) // 2], said[len(said) // 2 :]):
        if piece:
            yield _chunk({"content": piece})
    for index, wanted in enumerate(reply.get("tool_calls", ())):
        function = {"name": wanted["name"], "arguments": ""}
        yield _chunk(
            {"tool_calls": [{"index": index, "id": wanted["id"], "type": "function",
                             "function": function}]}
        )  # fmt: skip
        written = wanted["arguments"]
        for start in range(0, len(written), 1 << 20):
            part = {"arguments": written[start : start + (1 << 20)]}
            yield _chunk({"tool_calls": [{"index": index, "function": part}]})
    yield _chunk({}, "tool_calls" if reply.get("tool_calls") else "stop")
    yield {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}


def _chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]}  # fmt: skip


@contextmanager
def model_server(play: Play, port: int = 0, host: str = "127.0.0.1") -> Iterator[ModelServer]:
    """Serve a script until the block is left, on a port of its own or a given one."""
    server = ModelServer(play, port, host)
    server.start()
    try:
        yield server
    finally:
        server.stop()
