"""Conformance of the transport: a line, what runs, the workers, the models."""

import json
import socket
from typing import Any

from kbd.client.blocking import Client
from real_daemon import RealDaemon


def test_one_line_is_answered_with_one_line(daemon: RealDaemon) -> None:
    """Conformance 1: a request of the seeds' shape gets one line with its id."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(daemon.socket)
        raw.sendall(b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo","api_version":"1"}\n')
        lines = raw.makefile("rb")
        answer: dict[str, Any] = json.loads(lines.readline())
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)


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
    models = client.send("ModelsListSupported")["models"]
    ids = [model["model_id"] for model in models]
    assert ids
    assert len(set(ids)) == len(ids)
    for model_id in ids:
        provider, _, name = model_id.partition(":")
        assert provider
        assert name
