"""Conformance of the transport: what runs, and what any JSON-RPC client may expect."""

import json
import socket
from collections.abc import Mapping
from typing import Any, Self

import pytest
from pylsp_jsonrpc.exceptions import JsonRpcException

from kbd.client.blocking import Client, RemoteError
from kbd.requests import METHODS
from real_daemon import RealDaemon
from stock_client import stock_client
from wired import Script, Wired

MESSAGE_BYTES = 20_000


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Shorter messages than by default, which shows that the setting counts."""
    return {"KBD_LIMITS_MESSAGE_BYTES": str(MESSAGE_BYTES)}


def test_the_daemon_tells_what_runs(client: Client) -> None:
    """Conformance 2: the version of kbd and of the contract."""
    info = client.send("EngineGetInfo")
    assert info["engine_version"]
    assert info["api_version"] == "1"


def test_the_workers_are_there(client: Client) -> None:
    """Conformance 3: available with a live worker, and how it is confined."""
    status = client.send("ToolWorkerGetStatus")
    assert status["available"]
    assert status["sandbox"]["level"]


def test_models_have_canonical_ids(client: Client) -> None:
    """Conformance 4: at least one, each provider:model, each once."""
    ids = [model["model_id"] for model in client.send("ModelsListSupported")["models"]]
    assert ids
    assert len(set(ids)) == len(ids)
    for model_id in ids:
        provider, _, name = model_id.partition(":")
        assert provider
        assert name


def test_a_stock_client_drives_a_run(wire: Wired, daemon: RealDaemon, model: Script) -> None:
    """From rpc.discover to what is published, over Content-Length, with errors and notices."""
    model.writes = {"märz.txt": "Süßes\n"}
    source = wire.file("a.csv", "Name,Amount\nx,1\n")
    with stock_client(daemon.socket) as stock:
        methods = [each["name"] for each in stock.ask("rpc.discover", {})["methods"]]
        assert {*METHODS, "XlsxGetMap", "TextReadLines"} <= set(methods)
        bench = stock.ask("WorkbenchCreate", {"name": "stock"})
        stock.ask("EventsSubscribe", bench)
        (added,) = stock.ask("WorkbenchFilesAdd", {**bench, "source_paths": [str(source)]})[
            "add_results"
        ]
        assert added["status"] == "added"
        stock.ask("WorkshopSendUserMessage", {**bench, "text": "write"})
        assert stock.ask("WorkshopRunAgent", bench)["status"] == "finished"
        with pytest.raises(JsonRpcException) as refused:
            stock.ask("WorkbenchDelete", bench)
        assert (refused.value.code, refused.value.data["error_code"]) == (
            -32000, "VALIDATION_FAILED",
        )  # fmt: skip
        assert stock.ask("DraftPublish", bench)["published"] == ["märz.txt"]
        told = [method for method, _ in stock.told]
    phases = [params["phase"] for method, params in stock.told if method == "WorkshopPhaseStarted"]
    assert phases == ["research", "plan", "implement", "summary"]
    seqs = [e["seq"] for m, params in stock.told if m == "EventsAppended" for e in params["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert {"EventsSynced", "WorkshopAssistantStreamDelta", "CheckpointCreated"} <= set(told)


class Lines:
    """A connection that sees what goes over the wire."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._lines.close()
        self._socket.close()

    def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(raw)

    def send(self, message: Any) -> None:
        """Send a message, or the messages of a batch."""
        head = {"jsonrpc": "2.0"}
        whole = [head | each for each in message] if isinstance(message, list) else head | message
        self.write(json.dumps(whole).encode() + b"\n")

    def answer(self) -> Any:
        """Return the next message that is no notification."""
        while "method" in (message := json.loads(self._lines.readline())):
            pass
        return message


def test_giving_up_the_answer_leaves_the_run(
    daemon: RealDaemon, wire: Wired, model: Script
) -> None:
    """A cancelled WorkshopRunAgent that waits: -32800 at once, and the run goes on to its end."""
    named = {"workbench_id": wire.workbench()}
    wire.ask("WorkshopSendUserMessage", text="write", **named)
    model.answers.clear()
    with Lines(daemon.socket) as client:
        client.send({"id": 1, "method": "WorkshopRunAgent", "params": named})
        assert model.asked.wait(20)
        for wanted in (7, 1, 1):
            client.send({"method": "$/cancelRequest", "params": {"id": wanted}})
        client.send({"id": 2, "method": "EngineGetInfo"})
        found = {each["id"]: each for each in (client.answer(), client.answer())}
    assert found[1]["error"] == {"code": -32800, "message": "request cancelled"}
    assert "result" in found[2]
    (run,) = wire.ask("RunList", running=True, **named)["runs"]
    model.answers.set()
    assert daemon.wait_for_run(run["run_id"])["status"] == "finished"


def test_a_batch_is_answered_in_one_line(daemon: RealDaemon, wire: Wired, model: Script) -> None:
    """In order, silent parts left out; a run in it is waited for, and can be given up alone."""
    named = {"workbench_id": wire.workbench()}
    model.answers.clear()
    with Lines(daemon.socket) as client:
        client.send(
            [
                {
                    "id": 1,
                    "method": "WorkshopSendUserMessage",
                    "params": {**named, "text": "write"},
                },
                {"id": 2, "method": "WorkshopRunAgent", "params": named},
                {"method": "EngineGetInfo"},
                {"id": 3, "method": "NoSuchMethod"},
                {"id": 4, "method": "WorkbenchOpen", "params": {"workbench_id": "0" * 16}},
                {"id": 5, "method": "EngineGetInfo", "params": {"api_version": "2"}},
                {"id": 6, "method": "WorkshopGetState", "params": named},
            ]
        )
        assert model.asked.wait(20)
        client.send({"method": "$/cancelRequest", "params": {"id": 2}})
        answers = client.answer()
    model.answers.set()
    assert [(each["id"], each.get("error", {}).get("code")) for each in answers] == [
        (1, None), (2, -32800), (3, -32601), (4, -32000), (5, -32600), (6, None),
    ]  # fmt: skip
    assert answers[4]["error"]["data"] == {"expected": "1"}
    run_id = answers[5]["result"]["run_id"]
    assert daemon.wait_for_run(run_id)["status"] == "finished"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo","params":{"x":' + b"[" * 65, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo","params":{"x":"\xff"}}', -32700),
        (b"[]", -32600),
        (b"[" + b",".join([b"1"] * 101) + b"]", -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"EngineGetInfo"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo","params":[1]}', -32602),
    ],
)
def test_what_is_no_request_is_answered_and_the_next_is_served(
    daemon: RealDaemon, raw: bytes, code: int
) -> None:
    """Too deep, no text, an empty batch, one too long, a strange id, positions: the codes."""
    last = b'{"jsonrpc":"2.0","id":"a","id":"b","method":"DaemonShutdown","method":"RunList"}'
    with Lines(daemon.socket) as client:
        client.write(raw + b"\n" + last + b"\n")
        assert client.answer()["error"]["code"] == code
        # Of a key that occurs twice the last counts.
        answer = client.answer()
        assert (answer["id"], "runs" in answer["result"]) == ("b", True)


def test_a_message_past_the_limit_ends_the_connection(client: Client) -> None:
    """One of the longest length is read; of a byte more it is said why nothing follows."""
    whole = len(b'{"jsonrpc":"2.0","id":1,"method":"WorkbenchCreate","params":{"name":""}}')
    with pytest.raises(RemoteError) as refused:
        client.send("WorkbenchCreate", {"name": "x" * (MESSAGE_BYTES - whole)})
    assert refused.value.code == -32602
    with pytest.raises(RemoteError, match=f"longer than {MESSAGE_BYTES} bytes") as refused:
        client.send("WorkbenchCreate", {"name": "x" * (MESSAGE_BYTES + 1 - whole)})
    assert refused.value.code == -32700
