"""A model server that fails at random, by a seed, in every way that servers were seen to fail.

Each request gets a good turn of a small script, or the next failure of a shuffled deck, so that all
of them come up before one comes again. Whatever it answers, it checks what it was asked: arguments
that are no JSON object, a call without its result or a result without its call must never be sent,
for real servers refuse such a conversation for ever.

Chat completions and the Responses API are told apart by the path. Waiting times are those of a
test: what a real server would ask for in seconds is asked for in hundredths.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from random import Random
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from model_server import Reply, call, calls, text

__all__ = ["FAILURES", "FaultyServer", "faulty_server"]

Play = Callable[[str, list[str]], Reply]
"""Makes the good turn from the phase and what the calls of the conversation returned."""

PIECE_S = 0.02
"""Between two pieces of an endless answer."""

_STATUSES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "e401": ("401 Unauthorized", "invalid_api_key", {}),
    "e429": ("429 Too Many Requests", "rate_limit_exceeded", {"retry-after": "0.01"}),
    "e429big": ("429 Too Many Requests", "", {"retry-after": "0.5"}),
    "e500": ("500 Internal Server Error", "", {}),
    "e400ctx": ("400 Bad Request", "context_length_exceeded", {}),
}

_OPTIONS = {"no_tool_choice": "tool_choice", "no_usage": "stream_options", "no_strict": "strict"}

_STREAMS = (
    "html", "hang", "cl_trunc", "slow", "stall", "keepalive", "emptydelta",
    "trunc", "cleancut", "nodone", "badjson", "midcut",
    "ssecomment", "sseerr", "badshape",
)  # fmt: skip

_LINES = {"path": "a.csv", "line_count": 1}

_TURNS: Mapping[str, Reply] = {
    "cut_by_length": calls(call("write_text_file", '{"path": "x.txt", "content": "ab', "cut"))
    | {"finish_reason": "length"},
    "cut_text": text("This is not al") | {"finish_reason": "length"},
    "empty": text(""),
    "many": calls(*(call("read_file", _LINES | {"line_start": n}, f"m{n}") for n in range(1, 31))),
    "stop_with_calls": calls(call("list_files", " {\n} \t")) | {"finish_reason": "stop"},
    "not_offered": calls(call("rm -rf /", {"path": "x"}), call("delete_all", {})),
    "one_id": calls(call("list_files", {}, "same"), call("list_files", {}, "same")),
    "not_json": calls(call("read_file", "{'path': 'x'}"), call("read_file", "[1]", "list")),
    "usage_missing": text("Nothing counted this.") | {"usage": None},
}

FAILURES = (*_STATUSES, *_STREAMS, *_OPTIONS, *_TURNS)
"""All of them, by name: statuses, broken streams, refused options, and odd turns."""


class FaultyServer:
    """What was asked, what was answered, and what must not have been asked.

    Args:
        play: Makes the good turns.
        seed: Of every choice.
        share: Of the requests that get a failure.

    Attributes:
        base_url: For `OPENAI_BASE_URL`.
        answered: How often each failure, or "good", was the answer.
        violations: What was wrong with conversations that were sent.
    """

    def __init__(self, play: Play, seed: int, share: float) -> None:
        self._play, self._share = play, share
        self._chance, self._deck = Random(seed), list[str]()
        self._lock = threading.Lock()
        self.over = threading.Event()
        self.answered: Counter[str] = Counter()
        self.violations: list[str] = []
        script = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                try:
                    script.serve(self.rfile, self.wfile)
                except OSError:
                    pass  # The client hung up, as it should on some of these.

        class Server(ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def start(self) -> None:
        """Serve."""
        self._thread.start()

    def stop(self) -> None:
        """Serve no more, and end what hangs."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, rfile: BufferedIOBase, wfile: BufferedIOBase) -> None:
        """Answer one request."""
        path, headers, body = _received(rfile)
        turn = _Turn(wfile, responds=path.endswith("/responses"), key=headers["authorization"])
        messages = _messages(body)
        faults = _faults_of(messages)
        with self._lock:
            self.violations += faults
            name = self._chosen(body)
            self.answered[name] += 1
        good = self._play(_phase(body), [m["content"] for m in messages if m["role"] == "tool"])
        turn.answer(name, good, self.over)

    def _chosen(self, body: Mapping[str, Any]) -> str:
        if self._chance.random() >= self._share:
            return "good"
        if not self._deck:
            self._deck = list(FAILURES)
            self._chance.shuffle(self._deck)
        name = self._deck.pop()
        # An option that is not sent cannot be refused.
        option = _OPTIONS.get(name)
        return name if option is None or f'"{option}"' in json.dumps(body) else "good"


class _Turn:
    """One answer."""

    def __init__(self, wfile: BufferedIOBase, *, responds: bool, key: str) -> None:
        self._wfile, self._responds, self._key = wfile, responds, key

    def answer(self, name: str, good: Reply, over: threading.Event) -> None:
        """Send a failure, or the good turn."""
        if name in _STATUSES:
            status, code, headers = _STATUSES[name]
            # As real servers do, it quotes the key.
            self._refuse(status, f"no: {self._key}", code, headers)
        elif name in _OPTIONS:
            self._refuse("400 Bad Request", f"{_OPTIONS[name]} is not supported", "", {})
        elif name == "hang":
            over.wait(20)
        elif name == "html":
            self._send(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>portal</html>")
        elif name == "cl_trunc":
            self._head("content-length: 100000")
            self._send(b"data: {}\n\n")
        elif name in _STREAMS:
            self._head("transfer-encoding: chunked")
            self._stream(name, over)
        else:
            self._head("transfer-encoding: chunked")
            for piece in self._pieces(_TURNS.get(name, good)):
                self._event(piece)
            self._part(b"data: [DONE]\n\n")
            self._part(b"")

    def _stream(self, name: str, over: threading.Event) -> None:
        """Send a stream that is broken, or only looks strange."""
        *said, end, _ = self._pieces(text(f"partial {self._key}"))
        match name:
            case "nodone" | "ssecomment":
                self._part(b": PROCESSING\n\n")
                said.append(end)
            case "badshape" if self._responds:
                said = [{"type": "response.output_text.delta", "delta": 5}]
            case "badshape":
                said = [{"foo": 1}, {"choices": [{"index": 0, "delta": {"content": 5}}]}]
        for piece in said:
            self._event(piece)
        self._keep_open(name, said[-1], over)
        match name:
            case "badjson":
                self._part(b"data: {not json}\n\n")
            case "midcut":
                self._part(b"data: " + json.dumps(end).encode()[:20])
            case "sseerr":
                self._event({"error": {"message": f"overloaded {self._key}", "code": 503}})
        if name != "trunc":
            self._part(b"")

    def _keep_open(self, name: str, last: object, over: threading.Event) -> None:
        """Send what has no end: ever more of an answer, nothing, or what carries nothing."""
        match name:
            case "slow":
                while not over.wait(PIECE_S):
                    self._event(last)
            case "stall":
                over.wait(20)
            case "keepalive":
                while not over.wait(PIECE_S):
                    self._part(b": keep-alive\n\n")
            case "emptydelta":
                while not over.wait(PIECE_S):
                    self._event({"choices": [{"index": 0, "delta": {"content": ""}}]})

    def _pieces(self, reply: Reply) -> Iterator[dict[str, Any]]:
        """Yield the events of a turn; the last but one is its end, the last its usage."""
        return _events(reply) if self._responds else _chunks(reply)

    def _refuse(self, status: str, why: str, code: str, headers: Mapping[str, str]) -> None:
        data = json.dumps({"error": {"message": why, "code": code or None}}).encode()
        fields = {"content-type": "application/json", "content-length": str(len(data)), **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._send(f"HTTP/1.1 {status}\r\n{lines}connection: close\r\n\r\n".encode() + data)

    def _head(self, line: str) -> None:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
        self._send(f"{head}{line}\r\n\r\n".encode())

    def _event(self, value: object) -> None:
        self._part(b"data: " + json.dumps(value).encode() + b"\n\n")

    def _part(self, data: bytes) -> None:
        self._send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send(self, data: bytes) -> None:
        self._wfile.write(data)
        self._wfile.flush()


def _chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    def chunk(delta: object, finish_reason: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}

    if said := reply.get("content"):
        yield chunk({"content": said[:3]})
        yield chunk({"content": said[3:]})
    wanted = reply.get("tool_calls", ())
    for index, asked in enumerate(wanted):
        function = {"name": asked["name"], "arguments": asked["arguments"]}
        yield chunk({"tool_calls": [{"index": index, "id": asked["id"], "function": function}]})
    yield chunk({}, reply.get("finish_reason", "tool_calls" if wanted else "stop"))
    usage = reply.get("usage", {"prompt_tokens": 10, "completion_tokens": 5})
    yield {"choices": [], "usage": usage}


def _events(reply: Reply) -> Iterator[dict[str, Any]]:
    place = 0
    if said := reply.get("content"):
        for piece in (said[:3], said[3:]):
            yield {"type": "response.output_text.delta", "output_index": 0, "delta": piece}
        place = 1
    for asked in reply.get("tool_calls", ()):
        item = {"type": "function_call", "call_id": asked["id"], "name": asked["name"]}
        where = {"output_index": place}
        yield {"type": "response.output_item.added", **where, "item": item}
        done = "response.function_call_arguments.done"
        yield {"type": done, **where, "arguments": asked["arguments"]}
        place += 1
    cut = reply.get("finish_reason") == "length"
    response: dict[str, Any] = {"status": "incomplete" if cut else "completed"}
    if "usage" not in reply:
        response["usage"] = {"input_tokens": 10, "output_tokens": 5}
    yield {"type": f"response.{response['status']}", "response": response}
    yield {"type": "response.done"}


def _received(rfile: BufferedIOBase) -> tuple[str, dict[str, str], dict[str, Any]]:
    first, *lines = list(iter(lambda: rfile.readline().decode().strip(), "")) or [""]
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    size = int(headers.get("content-length", 0))
    body = rfile.read(size)
    if not body or len(body) < size:
        raise ConnectionError  # Whoever connected thought better of it.
    return first.split(" ")[1], headers, json.loads(body)


def _phase(body: Mapping[str, Any]) -> str:
    """Tell the phase of a request by the tools it offers, as a model could."""
    names = {tool.get("name") or tool["function"]["name"] for tool in body.get("tools", ())}
    if "write_text_file" in names:
        return "implement"
    if names == {"read_file", "recall_tool_result"}:
        return "plan"
    if names:
        return "research"
    # A last turn offers no tools either, so the prompt must say which phase it is.
    prompt = _messages(body)[0]["content"]
    phases = {"research step": "research", "planning step": "plan", "worker": "implement"}
    return next((phase for words, phase in phases.items() if words in prompt[:200]), "summary")


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a conversation in the form of chat completions, whichever it came in."""
    if "messages" in body:
        found: list[dict[str, Any]] = body["messages"]
        return found
    messages: list[dict[str, Any]] = []
    for item in body["input"]:
        match item:
            case {"type": "function_call"}:
                if not (messages and messages[-1].get("tool_calls")):
                    messages.append({"role": "assistant", "content": "", "tool_calls": []})
                function = {"name": item["name"], "arguments": item["arguments"]}
                messages[-1]["tool_calls"].append({"id": item["call_id"], "function": function})
            case {"type": "function_call_output"}:
                answer = {"role": "tool", "tool_call_id": item["call_id"]}
                messages.append(answer | {"content": item["output"]})
            case _:
                messages.append(dict(item))
    return messages


def _faults_of(messages: list[dict[str, Any]]) -> list[str]:
    """Return what a server would refuse a conversation for."""
    faults: list[str] = []
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] in open_ids:
                open_ids.remove(message["tool_call_id"])
            else:
                faults.append(f"a result without its call: {message}")
            continue
        faults += [f"a call without its result: {call_id}" for call_id in open_ids]
        open_ids = []
        for asked in message.get("tool_calls", ()):
            open_ids.append(asked["id"])
            try:
                given = json.loads(asked["function"]["arguments"])
            except ValueError:
                given = None
            if not isinstance(given, dict):
                faults.append(f"arguments that are no object: {asked}")
        if message["role"] == "assistant" and not (message["content"] or message.get("tool_calls")):
            faults.append("an assistant's turn of nothing")
    return faults + [f"a call without its result: {call_id}" for call_id in open_ids]


@contextmanager
def faulty_server(play: Play, seed: int, share: float = 0.4) -> Iterator[FaultyServer]:
    """Serve until the block is left."""
    server = FaultyServer(play, seed, share)
    server.start()
    try:
        yield server
    finally:
        server.stop()
