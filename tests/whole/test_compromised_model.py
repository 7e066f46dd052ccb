"""A model that does whatever it likes: nothing leaves the draft, every refusal is recorded."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends import on_asyncio, on_trio
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

PLAN = "# Execution Plan\n\n## Task\nwrite\n\n## Items\n- [ ] 1. Write a note\n\n## Notes\n"

ESCAPES = (
    "../escaped.txt", "/tmp/kbd-escaped.txt", "a/../../escaped.txt", "meta/x.txt", "~/escaped.txt",
    "..\\escaped.txt", "draft/../../escaped.txt", "a\0b.txt", "published/../../../escaped.txt",
)  # fmt: skip

BROKEN = ("{", '{"path": ', "[]", '"text"', "null", "{'path': 'x'}", '{"path": 1, "content": []}')


def _attack(body: dict[str, Any]) -> Reply:
    """Play the attack: each phase does what it may not, then answers so that the run goes on."""
    turn = turn_of(body)
    match phase_of(body):
        case "research" if turn == 0:
            return calls(
                call("write_text_file", {"path": "r.txt", "content": "x"}, "w"),
                call(
                    "table_export", {"path": "a.csv", "target_path": "r.csv", "format": "csv"}, "e"
                ),
                call("delete_everything", {}, "d"),
                call("read_file", {"path": "../../../etc/passwd"}, "p"),
            )
        case "plan" if turn == 0:
            return calls(call("write_text_file", {"path": "p.txt", "content": "x"}, "w"))
        case "plan":
            return text(PLAN)
        case "implement" if turn == 0:
            attempts = [
                call("write_text_file", {"path": path, "content": "x"}, f"x{number}")
                for number, path in enumerate(ESCAPES)
            ]
            return calls(*attempts)
        case "implement" if turn == 1:
            broken = [call("write_text_file", words, f"b{n}") for n, words in enumerate(BROKEN)]
            return calls(*broken, call("write_text_file", {"path": "x", "extra": 1}, "extra"))
        case "implement" if turn == 2:
            lines = ({"path": "a.csv", "line_start": number} for number in range(1, 61))
            return calls(*(call("read_file", where, f"m{n}") for n, where in enumerate(lines)))
        case "implement" if turn == 3:
            huge = json.dumps({"path": "huge.txt", "content": "x" * (10 * 1024 * 1024)})
            return calls(call("write_text_file", huge, "huge"), call("list_files", {}, "huge"))
        case "implement" if turn == 4:
            return calls(call("write_text_file", {"path": "note.txt", "content": "fine"}, "ok"))
        case _:
            return text("done")


@contextmanager
def _daemon(home: Path, backend: str, base_url: str) -> Iterator[RealDaemon]:
    environment = {"OPENAI_BASE_URL": base_url, "KBD_MODEL": "openai:attacker"}
    daemon = RealDaemon(home, backend, environment)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def _tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@on_asyncio
def test_nothing_leaves_the_draft(short_dir: Path, anyio_backend: str, tmp_path: Path) -> None:
    """Whatever the model calls, only the one legal write is in the draft, and the run ends well."""
    source = tmp_path / "outside" / "a.csv"
    source.parent.mkdir()
    source.write_text("a,b\n1,2\n")
    outside = _tree(source.parent)
    with (
        model_server(_attack) as server,
        _daemon(short_dir / "h", anyio_backend, server.base_url) as daemon,
    ):
        workbench_id = daemon.workbench(source)
        run = daemon.run_prompt(workbench_id, "write a note")
        events = daemon.events(workbench_id)
        changes = daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
        root = daemon.home / "workbenches" / workbench_id

        assert run["status"] == "finished", run
        assert [(row["path"], row["change_type"]) for row in changes] == [("note.txt", "added")]
        assert {"a.csv": next(iter(outside.values()))} == _tree(root / "published")
        assert outside == _tree(source.parent)
        assert not Path("/tmp/kbd-escaped.txt").exists()
        assert list(short_dir.rglob("escaped.txt")) == []
        refused = {e["data"]["call_id"]: e["data"] for e in events if e["type"] == "ToolRefused"}
        returned = {e["data"]["call_id"]: e["data"] for e in events if e["type"] == "ToolReturned"}
        _check_every_call_is_answered(events, refused, returned)
        _check_refusals(refused, returned)
        assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
        _check_history_is_clean(server.requests)


def _check_every_call_is_answered(
    events: list[dict[str, Any]], refused: dict[str, Any], returned: dict[str, Any]
) -> None:
    asked = [
        c["id"] for e in events if e["type"] == "ModelReplied" for c in e["data"].get("calls", ())
    ]
    assert len(asked) == len(set(asked))
    assert set(asked) == set(refused) | set(returned)
    assert not set(refused) & set(returned)


def _check_refusals(refused: dict[str, Any], returned: dict[str, Any]) -> None:
    """Phase, unknown name, escape, broken arguments, surplus, size: each with its code."""
    shown = [data["shown"] for data in refused.values()]
    failed = [data["shown"] for data in returned.values() if not data["ok"]]
    assert all(text.startswith("Error: ") for text in (*shown, *failed))
    escapes = [text for text in (*shown, *failed) if "SANDBOX_VIOLATION" in text]
    assert len(escapes) >= len(ESCAPES) + 1
    assert len(refused) >= 3 + 1 + len(BROKEN) + 1 + 10 + 1
    assert not any("/work" in text or "Traceback" in text for text in (*shown, *failed))


def _check_history_is_clean(requests: list[dict[str, Any]]) -> None:
    """Arguments that were ill-formed are never sent back: what is sent is a JSON object."""
    for body in requests:
        for message in body["messages"]:
            for asked in message.get("tool_calls", ()):
                assert isinstance(json.loads(asked["function"]["arguments"]), dict)


@on_trio
def test_a_model_that_only_attacks_ends_in_a_stated_way(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """A model that repeats one forbidden call for ever is stopped with a code, not by the clock."""
    (tmp_path / "a.csv").write_text("a\n1\n")

    def stubborn(body: dict[str, Any]) -> Reply:
        return calls(call("write_text_file", {"path": "/etc/passwd", "content": "x"}))

    with (
        model_server(stubborn) as server,
        _daemon(short_dir / "h", anyio_backend, server.base_url) as daemon,
    ):
        workbench_id = daemon.workbench(tmp_path / "a.csv")
        run = daemon.run_prompt(workbench_id, "write a note")

        assert run["status"] == "failed"
        assert run["error"]["error_code"] == "AGENT_LOOP_DETECTED"
        assert run["error"]["subphase"] == "rpi_research"
        assert daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"] == []


@on_trio
def test_a_cancel_ends_a_run_that_waits_for_its_model(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """A run whose model does not answer is cancelled at once, and goes on when it is resumed."""
    import threading

    (tmp_path / "a.csv").write_text("a\n1\n")
    answer = threading.Event()

    def slow(body: dict[str, Any]) -> Reply:
        answer.wait(60)
        return text(PLAN if phase_of(body) == "plan" else "done")

    with (
        model_server(slow) as server,
        _daemon(short_dir / "h", anyio_backend, server.base_url) as daemon,
    ):
        workbench_id = daemon.workbench(tmp_path / "a.csv")
        ask = {"workbench_id": workbench_id}
        daemon.ask("WorkshopSendUserMessage", text="look", **ask)
        run_id = daemon.ask("WorkshopRunAgent", wait=False, **ask)["run_id"]
        assert daemon.ask("WorkshopCancelRun", **ask) == {"cancel_requested": True}
        assert daemon.wait_for_run(run_id, 10)["status"] == "cancelled"
        assert daemon.ask("WorkshopCancelRun", **ask) == {"cancel_requested": False}
        answer.set()
        again = daemon.ask("WorkshopRunAgent", wait=False, **ask)
        assert again["run_id"] == run_id
        assert daemon.wait_for_run(run_id)["status"] == "finished"
