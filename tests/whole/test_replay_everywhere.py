"""State and files at every event are what they were, and need nothing but logs and blobs."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backends import on_trio
from kbd.types import Phase
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon
from whole.moments_seen import LIVE, Moments, strip
from whole.seeded_runs import Asked, chosen, reply

PROMPT = "one sheet per category with Date, Amount sorted by date, and a summary sheet with totals"
PLAN = "# Execution Plan\n\n## Task\nwrite\n\n## Items\n- [ ] 1. One\n- [ ] 2. Two\n\n## Notes\n"


@contextmanager
def seen(folder: Path, backend: str, **environment: str) -> Iterator[tuple[RealDaemon, Path]]:
    """Run a daemon that writes down each state that it has, and name that file."""
    heard = folder / "heard"
    heard.touch()
    settings = {"KBD_RUN_RETRY_S": "0.01", **environment}
    daemon = RealDaemon(folder / "home", backend, settings, LIVE.format(path=str(heard)))
    daemon.start()
    try:
        yield daemon, heard
    finally:
        daemon.stop()


def troubled(body: dict[str, Any]) -> Reply:
    """Be a model whose first item writes, says nothing, is rolled back, and succeeds then."""
    opening = body["messages"][1]["content"]
    match phase_of(body):
        case "plan":
            return text(PLAN)
        case "implement" if turn_of(body) == 0:
            item = opening.partition('<item number="')[2][:1]
            return calls(call("write_text_file", {"path": f"{item}.txt", "content": item}, "w"))
        case "implement" if 'number="1" attempt="1"' in opening:
            return text("")
        case _:
            return text("All done.")


def seeded(seed: int) -> Any:
    """Return a model made of a seed: it edits what files there are, fails, and loops."""

    def play(body: dict[str, Any]) -> Reply:
        phase = phase_of(body)
        messages = body["messages"]
        asked = Asked(
            Phase.SUMMARY if phase == "no tools" else Phase(phase), messages[1]["content"],
            turn_of(body), tuple(m["content"] for m in messages if m["role"] == "tool"),
        )  # fmt: skip
        said, wanted = reply(seed, 1, asked)
        made = [call(name, given, f"c{place}") for place, (name, given) in enumerate(wanted)]
        return calls(*made) if made else text(said)

    return play


def table(path: Path) -> Path:
    """Write a table of four categories."""
    rows = [f"2024-0{n % 9 + 1}-{28 - n % 28:02},{'ABCD'[n % 4]},{n}.50" for n in range(60)]
    path.write_text("\n".join(["Date,Category,Amount", *rows, ""]))
    return path


def kinds(daemon: RealDaemon, workbench_id: str) -> list[str]:
    """Return the types of a log's events."""
    return [event["type"] for event in daemon.events(workbench_id)]


@pytest.mark.full
@on_trio
def test_every_moment_of_a_small_run(short_dir: Path, anyio_backend: str) -> None:
    """Live, by the socket and by a fresh fold: one state, and its files; then without all copies.

    An item is rolled back and tried again; a draft stays open.
    """
    with model_server(troubled) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:scripted"}
        with seen(short_dir, anyio_backend, **environment) as (daemon, heard):
            (short_dir / "a.txt").write_text("text")
            workbench_id = daemon.workbench(short_dir / "a.txt")
            moments = Moments(daemon, heard, workbench_id)
            moments.hold()
            assert daemon.run_prompt(workbench_id, "write")["status"] == "finished"
            before = moments.picture()

            assert "ItemRetried" in kinds(daemon, workbench_id)
            assert moments.prove(short_dir / "at", every=12) > 4
            daemon.stop()
            strip(daemon.home)
            daemon.start()
            assert moments.picture() == before
            assert len(before["live"]) == 1


def _jobs(daemon: RealDaemon, heard: Path, folder: Path, corpora: Path) -> list[Moments]:
    """Have the offline provider do two jobs, one published, one thrown away, one waiting."""
    made, source = [], next(p for p in sorted((corpora / "csv").iterdir()) if "simple" in p.name)
    for path, prompt in ((table(folder / "data.csv"), PROMPT), (source, f"convert {source.name}")):
        workbench_id = daemon.workbench(path)
        moments = Moments(daemon, heard, workbench_id)
        moments.hold()
        for number, end in enumerate(("DraftPublish", "DraftDiscard", "")):
            named = f" to out{number}.xlsx" if prompt.startswith("convert") else ""
            run = daemon.run_prompt(workbench_id, prompt + named)
            assert run["status"] == "finished", run
            moments.hold()
            if end:
                daemon.ask(end, workbench_id=workbench_id)
                moments.hold()
        made.append(moments)
    return made


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.timeout(3600)
def test_every_moment_of_offline_jobs(short_dir: Path, anyio_backend: str, corpora: Path) -> None:
    """Drafts published, thrown away and waiting; after a start without all copies, all is equal."""
    with seen(short_dir, anyio_backend) as (daemon, heard):
        all_moments = _jobs(daemon, heard, short_dir, corpora)
        before = [moments.picture() for moments in all_moments]
        proved = [moments.prove(short_dir / "at") for moments in all_moments]
        assert min(proved) > 50
        for end in (daemon.stop, daemon.kill):
            end()
            strip(daemon.home)
            daemon.start()
            assert [moments.picture() for moments in all_moments] == before
        assert [moments.prove(short_dir / "at", every=10) for moments in all_moments]


@pytest.mark.soak
@pytest.mark.corpora
@pytest.mark.timeout(3600)
def test_every_moment_of_seeded_runs(short_dir: Path, anyio_backend: str, corpora: Path) -> None:
    """A model that edits real files, fails, is refused and loops: items are retried and fail."""
    retried = 0
    for seed in range(6):
        folder = short_dir / f"{seed}"
        folder.mkdir()
        with model_server(seeded(seed)) as server:
            environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:scripted"}
            with seen(folder, anyio_backend, **environment) as (daemon, heard):
                workbench_id = daemon.workbench(*chosen(corpora, seed, 3, 1, 40_000))
                moments = Moments(daemon, heard, workbench_id)
                moments.hold()
                run = daemon.run_prompt(workbench_id, "do many things")
                assert run["status"] == "finished", run
                before = moments.picture()
                moments.prove(folder / "at")
                retried += kinds(daemon, workbench_id).count("ItemRetried")
                daemon.kill()
                strip(daemon.home)
                daemon.start()
                assert moments.picture() == before
                assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
    assert retried > 0


def _finish(daemon: RealDaemon, workbench_id: str) -> dict[str, Any]:
    started = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    return daemon.wait_for_run(str(started["run_id"]))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_run_that_is_killed_and_stripped_comes_to_the_same_end(
    short_dir: Path, anyio_backend: str
) -> None:
    """Killed at random moments, all copies deleted each time, resumed: the same files come out."""
    chance = random.Random(6)
    with seen(short_dir, anyio_backend) as (daemon, heard):
        source = table(short_dir / "data.csv")
        undisturbed = Moments(daemon, heard, daemon.workbench(source))
        begun = time.monotonic()
        assert daemon.run_prompt(undisturbed.folder.name, PROMPT)["status"] == "finished"
        took_s = time.monotonic() - begun
        undisturbed.hold()
        for _ in range(4):
            workbench_id = daemon.workbench(source)
            moments = Moments(daemon, heard, workbench_id)
            daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=PROMPT)
            for _ in range(3):
                daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
                threading.Event().wait(chance.uniform(0.05, took_s / 2))
                daemon.kill()
                strip(daemon.home)
                daemon.start()
                moments.hold()
            assert _finish(daemon, workbench_id)["status"] == "finished"
            moments.hold()
            assert kinds(daemon, workbench_id).count("RunInterrupted") > 0
            assert moments.files(moments.last()) == undisturbed.files(undisturbed.last())
            moments.prove(short_dir / "at", every=7)
