"""Runs against a model server that fails at random: each ends whole, or can be gone on with.

`KBD_FAULTY_RUNS` sets how many the long test makes on each backend, half of them in each protocol.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kbd.errors
from backends import on_asyncio
from faulty_server import FAILURES, FaultyServer, faulty_server
from model_server import Reply, call, calls, text
from real_daemon import RealDaemon

KEY = "sk-canary-5f1d9c3e7a"
PLAN = "# Execution Plan\n\n## Task\nnotes\n\n## Items\n- [ ] 1. One\n- [ ] 2. Two\n\n## Notes\n"

SETTINGS = {
    "OPENAI_API_KEY": KEY,
    "KBD_MODEL": "openai:faulty",
    "KBD_RUN_RETRY_S": "0.01,0.02",
    "KBD_RUN_PROVIDER_S": "0.25",
    "KBD_RUN_TURN_S": "0.6",
}
TRIES = 25
"""A run is gone on with so often; of two failures in five, every tenth turn fails for good."""

RUN_S = 90.0
"""Past it a run hangs: its turns, all limits reached, take less."""

CODES = {
    kind.code for kind in vars(kbd.errors).values()
    if isinstance(kind, type) and issubclass(kind, kbd.errors.KbdError)
}  # fmt: skip


def play(phase: str, results: list[str]) -> Reply:
    """Play the model: look, plan two items, write a note for each, sum up."""
    match phase:
        case "research" if not results:
            return calls(call("list_files", {}))
        case "plan":
            return text(PLAN)
        case "implement" if not any('"bytes"' in result for result in results):
            return calls(call("write_text_file", {"path": "note.txt", "content": "fine"}, "w"))
        case _:
            return text(f"The {phase} is done.")


@contextmanager
def working(
    home: Path, backend: str, api: str, seed: int
) -> Iterator[tuple[RealDaemon, FaultyServer]]:
    """Run a daemon that asks a faulty server."""
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(f'[plugins.openai]\napi = "{api}"\n')
    with faulty_server(play, seed) as server:
        daemon = RealDaemon(home, backend, SETTINGS | {"OPENAI_BASE_URL": server.base_url})
        daemon.start()
        try:
            yield daemon, server
        finally:
            daemon.stop()


class Told(msgspec.Struct, frozen=True):
    """How one run went: the codes of the tries that failed, how it ended, its longest try."""

    failed: tuple[str, ...]
    ended: str
    longest_s: float


def one_run(daemon: RealDaemon, number: int, source: Path) -> Told:
    """Have a run made, gone on with until it is whole, and check what is left at each end."""
    workbench_id = daemon.workbench(source, name=f"run {number}")
    ask = {"workbench_id": workbench_id}
    daemon.ask("WorkshopSendUserMessage", text="write two notes", **ask)
    failed: list[str] = []
    longest_s = 0.0
    run_ids: set[str] = set()
    run: dict[str, Any] = {}
    while len(failed) < TRIES:
        began_s = time.monotonic()
        run_id = daemon.ask("WorkshopRunAgent", wait=False, **ask)["run_id"]
        run_ids.add(run_id)
        run = daemon.wait_for_run(run_id, RUN_S)
        longest_s = max(longest_s, time.monotonic() - began_s)
        if run["status"] == "finished":
            break
        assert run["status"] == "failed", run
        failed.append(run["error"]["error_code"])
    assert len(run_ids) == 1
    assert set(failed) <= CODES - {"TOOL_WORKER_UNAVAILABLE"}  # which says that kbd failed inside
    check(daemon.events(workbench_id), run, daemon.ask("WorkshopGetState", **ask))
    assert daemon.ask("LogVerify", **ask)["ok"]
    return Told(tuple(failed), run["status"], longest_s)


def check(events: list[dict[str, Any]], run: dict[str, Any], state: dict[str, Any]) -> None:
    """Check a run's record: every call answered once, every item told, no option refused twice."""
    by_type: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        by_type.setdefault(event["type"], []).append(event["data"])
    replied = by_type.get("ModelReplied", [])
    asked = [each["id"] for reply in replied for each in reply.get("calls", ())]
    answers = by_type.get("ToolReturned", []) + by_type.get("ToolRefused", [])
    answered = [answer["call_id"] for answer in answers]
    refused = [each["option"] for each in by_type.get("ModelFailed", []) if each.get("option")]
    assert len(asked) == len(set(asked))
    assert len(answered) == len(set(answered))
    assert set(answered) <= set(asked)
    assert len(refused) == len(set(refused))
    assert state["run_id"] is None
    if run["status"] == "finished":
        assert all(item["state"] in ("done", "failed") for item in run["items"])
        writes = {e["call_id"] for e in by_type.get("ToolCalled", []) if "write" in e["tool"]}
        wrote = any(e["ok"] and e["call_id"] in writes for e in by_type.get("ToolReturned", []))
        undone = {"ItemRetried", "ItemFailed"} & set(by_type)
        assert state["has_draft"] == wrote or (wrote and undone)


def runs_against_it(
    short_dir: Path, source: Path, backend: str, api: str, count: int, seed: int
) -> Counter[str]:
    """Have runs made against a faulty server, four at a time; print and return what came of it."""
    source.write_text("a,b\n1,2\n")
    with working(short_dir / api, backend, api, seed) as (daemon, server):
        with ThreadPoolExecutor(4) as threads:
            told = list(threads.map(lambda number: one_run(daemon, number, source), range(count)))
        assert server.violations == []
    held = [path for path in (short_dir / api).rglob("*") if path.is_file()]
    assert len(held) > count
    assert [path for path in (*held, daemon.log) if KEY.encode() in path.read_bytes()] == []
    ended = Counter(each.ended for each in told)
    codes = Counter(code for each in told for code in each.failed)
    asked = sum(server.answered.values())
    figures = (
        f"{backend} {api}: {count} runs, {count + codes.total()} tries, {asked} requests,"
        f" {asked - server.answered['good']} failures of {len(server.answered) - 1} kinds; longest"
        f" {max(each.longest_s for each in told):.1f} s (limit {RUN_S:g} s);"
        f" ended {json.dumps(ended)}; tries failed {json.dumps(codes)}; 0 violations"
    )
    print(figures)
    assert ended["finished"] == count
    return server.answered


@pytest.mark.full
@on_asyncio
def test_runs_end_whole_though_the_server_fails(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Six runs: whatever the server does, each is gone on with until it is whole."""
    source = tmp_path / "a.csv"
    answered = runs_against_it(short_dir, source, anyio_backend, "chat", 6, seed=7)

    assert answered["good"] > 20
    assert len(answered) > len(FAILURES) // 2


@pytest.mark.soak
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_hundreds_of_runs_end_whole(
    short_dir: Path, anyio_backend: str, tmp_path: Path, api: str
) -> None:
    """The same for two hundred runs on each backend, in both protocols; every failure comes up."""
    count = int(os.environ.get("KBD_FAULTY_RUNS", "200")) // 2
    answered = runs_against_it(short_dir, tmp_path / "a.csv", anyio_backend, api, count, seed=11)

    expected = set(FAILURES) - ({"no_usage"} if api == "responses" else set())
    assert count < 50 or set(answered) >= expected
