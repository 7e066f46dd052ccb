"""Whole interactions, as they read: what is asked, what is answered, told and recorded.

A story in `stories/` has lines that are played (`>` a request, `.` a stage direction, `#` a remark)
and lines that must come out of them (`<` an answer, `!` an error, `~` a notification of something
recorded, `*` an event). `KBD_WRITE_STORIES=1` writes what comes out instead of comparing it: read
the difference before you keep it.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly
from kbd.client.blocking import Client, RemoteError
from wired import PLAN, Heard, Wired, wired

STORIES = sorted((Path(__file__).parent / "stories").glob("*.txt"))

ID = re.compile(r"[0-9a-f]{64}|c?[0-9a-f]{16}(?![0-9a-f])")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all stories."""
    with wired(str(request.param)) as running:
        yield running


class Teller:
    """Plays one story and writes down what comes of it."""

    def __init__(self, wire: Wired, client: Client) -> None:
        self._wire, self._client = wire, client
        self._heard = Heard(client)
        self._folder = wire.file("made").parent / "mine"
        self._folder.mkdir()
        self._workbench = ""
        self._names: dict[str, str] = {}
        self._told = 0
        self._after: dict[str, int] = {}

    def tell(self, story: str) -> str:
        """Return the story as it went."""
        lines: list[str] = []
        for line in story.splitlines():
            if not line or line.startswith("#"):
                lines.append(line)
            elif line.startswith(">"):
                method, _, params = line[2:].partition(" ")
                lines += [line, self._ask(method, params)]
            elif line.startswith("."):
                lines += [line, *self._direct(*line[2:].split(" ", 2))]
        return "\n".join(lines) + "\n"

    def _ask(self, method: str, params: str) -> str:
        filled = params.replace("$workbench", self._workbench)
        filled = filled.replace("$folder", str(self._folder))
        try:
            answer = self._client.send(method, json.loads(filled))
        except RemoteError as error:
            return f"! {error.code} {self._masked([error.message, error.data])}"
        if method == "WorkbenchCreate":
            self._workbench = answer["workbench_id"]
            self._names[self._workbench] = "workbench"
        return f"< {self._masked(answer)}"

    def _direct(self, what: str, first: str = "", rest: str = "") -> list[str]:
        match what:
            case "file":
                (self._folder / first).write_text(rest)
            case "writes":
                self._wire.script.writes = {first: rest}
            case "think":
                self._wire.script.asked.clear()
                self._wire.script.answers.clear()
            case "asked":
                assert self._wire.script.asked.wait(20)
            case "answer":
                self._wire.script.answers.set()
            case "until":
                return list(self._until(first))
            case "events":
                return list(self._events())
        return []

    def _until(self, method: str) -> Iterator[str]:
        """Tell what was heard of recorded events, up to the next notification of a kind."""
        while True:
            while self._told < len(self._heard.notices):
                heard, params = self._heard.notices[self._told]
                self._told += 1
                if "seq" in params:
                    yield f"~ {heard} {self._masked(params, without=('workbench_id', 'seq'))}"
                if heard == method:
                    return
            assert self._client.wait(20), method

    def _events(self) -> Iterator[str]:
        params = {"workbench_id": self._workbench, "limit": 1000}
        events = self._client.send("EventsRead", params)["events"]
        # A receipt is made beside what follows its publish, so it has no place of its own.
        events = [event for event in events if event["type"] != "ReceiptMade"]
        for place, event in enumerate(events, 1):
            run = event.get("run_id", "").removeprefix(f"{self._workbench}-")
            yield f"* {place} {event['type']}{f' of run {run}' if run else ''}"

    def _masked(self, value: Any, without: tuple[str, ...] = ()) -> str:
        if isinstance(value, dict):
            value = {name: each for name, each in value.items() if name not in without}
        text = json.dumps(value, ensure_ascii=False).replace(str(self._folder), "$folder")
        return TIME.sub("<time>", ID.sub(self._name, text))

    def _name(self, found: re.Match[str]) -> str:
        name = self._names.setdefault(found[0], f"id {len(self._names)}")
        return f"<{name}>"


@pytest.mark.parametrize("story", STORIES, ids=[path.stem for path in STORIES])
def test_a_story_goes_as_it_is_told(wire: Wired, story: Path) -> None:
    """Each line that must come out does, in its place, and nothing else."""
    wire.script.plan, wire.script.writes = PLAN, {}
    wire.script.answers.set()
    with wire.daemon.client() as client:
        told = Teller(wire, client).tell(story.read_text("utf-8"))
    if os.environ.get("KBD_WRITE_STORIES"):
        story.write_text(told, "utf-8")
    assert told.splitlines() == story.read_text("utf-8").splitlines()


def test_there_are_stories() -> None:
    """A folder that was not found would prove nothing."""
    assert len(STORIES) >= 3
