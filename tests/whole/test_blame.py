"""Blame of seeded runs equals what the runs did: each change, each place, behind whatever came.

Runs of a scripted model edit files of five formats, a call an item; some items fail once and are
rolled back. In between a person undoes, has a message answered again, publishes, discards, restores
and edits. What is expected is kept beside, in memory: bringing a moment back brings that back.
"""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from backends import halved, mostly
from model_server import Reply, call, calls, phase_of, text, turn_of
from whole.blamed_files import KINDS, BlamedFile, Part, make_file
from wired import Wired, wired

RUNS = 8
"""Runs of a workbench."""

SAMPLED = 2
"""Places of a file of which the whole chain is asked for."""

Files = dict[str, BlamedFile]


class Job(NamedTuple):
    """An item of a run: a call, another one that is rolled back before it, the edit it is."""

    tool: str
    arguments: dict[str, Any]
    failing: tuple[str, dict[str, Any]] | None
    edit: int


class Stood(NamedTuple):
    """The files at a message."""

    published: Files
    draft: Files


class Blamed:
    """A workbench, and which edit made what in it.

    Args:
        bench: The daemon and its model.
        seed: Decides all.
    """

    def __init__(self, bench: Wired, seed: int) -> None:
        self.bench, self.chance = bench, Random(seed)
        self.published: Files = {}
        self.draft: Files = {}
        self.messages: dict[str, Stood] = {}
        self.checkpoints: dict[str, Files] = {}
        # The event of each edit, once it is recorded; which item it was; the tool.
        self.seqs: dict[int, int] = {}
        self.makers: dict[int, tuple[str, int | None, str]] = {}
        self.edits = 0
        self.jobs: list[Job] = []
        self.checked = self.unclear = 0
        self.names = self.chance.sample(sorted(KINDS), 3)
        self.wb = bench.workbench(**self._added())
        bench.script.instead = self.play

    def _added(self) -> dict[str, str]:
        contents: dict[str, str] = {}
        for number, path in enumerate(path for path in self.names if path in ("a.txt", "b.csv")):
            file = make_file(path, self.chance)
            _, arguments = file.creation(-number)
            self.published[path] = file
            contents[path.replace(".", "__")] = arguments["content"]
            self.seqs[-number] = number + 2  # Behind the workbench's first event.
        return contents

    def play(self, body: dict[str, Any]) -> Reply:
        """Be the model."""
        match phase_of(body):
            case "plan":
                items = "".join(f"- [ ] {n}. Edit {j.edit}\n" for n, j in enumerate(self.jobs, 1))
                return text(f"# Execution Plan\n\n## Task\nedit\n\n## Items\n{items}\n## Notes\n")
            case "implement":
                opening = str(body["messages"][1]["content"])
                number, attempt = (
                    int(n) for n in opening.split('<item number="')[1].split('"')[:3:2]
                )
                job = self.jobs[number - 1]
                if job.failing is not None and attempt == 1:
                    same = [call("read_file", {"path": "none"}, f"l{n}") for n in range(3)]
                    first = [call(*job.failing, f"f{number}")]
                    return calls(*(first if turn_of(body) == 0 else same))
                if turn_of(body) == 0:
                    return calls(call(job.tool, job.arguments, f"w{number}"))
                return text("Done.")
            case _:
                return text("All done.")

    def current(self, path: str) -> BlamedFile | None:
        """Return a file as it is now."""
        return self.draft.get(path) or self.published.get(path)

    def edit_file(self, path: str) -> tuple[str, dict[str, Any], int]:
        """Edit a file in memory; return the call that does the same, and the edit."""
        self.edits += 1
        file = self.current(path)
        if file is None:
            file = self.draft[path] = make_file(path, self.chance)
            return *file.creation(self.edits), self.edits
        if path not in self.draft:
            file = self.draft[path] = file.copied()
            file.removed.clear()
            file.moved.clear()
        return *file.change(self.edits), self.edits

    def failing(self, path: str) -> tuple[str, dict[str, Any]] | None:
        """Return an edit that will be rolled back."""
        file = self.current(path)
        if file is None or self.chance.random() < 0.7:
            return None
        return file.copied().change(-99)

    def run(self, *, again: bool = False) -> None:
        """Run on a new message, or answer the last one again, and take down who made what."""
        self.jobs = []
        again = again and self.branch()[-1][0] == "assistant"
        if again:
            # Before the edits: they go on from the files as they were at the message.
            asked = [each for each in self.branch() if each[0] == "user"][-1][1]
            self.stand(self.messages[asked])
        else:
            sent = self.bench.ask("WorkshopSendUserMessage", workbench_id=self.wb, text="edit")
            self.messages[sent["message_id"]] = self.standing()
        for _ in range(self.chance.randint(1, 3)):
            path = self.chance.choice(self.names)
            failing = self.failing(path)
            tool, arguments, edit = self.edit_file(path)
            self.jobs.append(Job(tool, arguments, failing, edit))
        method = "WorkshopRegenerate" if again else "WorkshopRunAgent"
        run = self.bench.ask(method, workbench_id=self.wb, wait=False)
        done = self.bench.daemon.wait_for_run(run["run_id"])
        assert done["status"] == "finished", done
        assert [each["state"] for each in done["items"]] == ["done"] * len(self.jobs), done
        self.take_down(done["run_id"])
        role, answer = self.branch()[-1]
        assert role == "assistant"
        self.messages[answer] = self.standing()

    def take_down(self, run_id: str) -> None:
        """Find the event of each edit of a run: the last change of each item."""
        number, item = int(run_id.rpartition("-")[2]), 0
        for event in self.bench.daemon.events(self.wb):
            if event.get("run") not in (number, run_id) and event.get("run_id") != run_id:
                continue
            if event["type"] == "ItemStarted":
                item = event["data"]["item"]
            elif event["type"] == "ToolReturned" and event["data"]["call_id"][0] == "w":
                assert event["data"]["ok"], event
            elif event["type"] == "FileChanged" and event["data"].get("cause", "edit") == "edit":
                job = self.jobs[item - 1]
                self.seqs[job.edit] = event["seq"]
                self.makers[job.edit] = (run_id, item, job.tool)

    def branch(self) -> list[tuple[str, str]]:
        """Return the messages of the conversation."""
        entries = self.bench.ask("WorkshopGetConversation", workbench_id=self.wb)["messages"]
        return [
            (each["role"], each["message_id"])
            for each in entries
            if each["type"] in ("user_message", "assistant_message") and "tool_calls" not in each
        ]

    def standing(self) -> Stood:
        """Copy the files."""
        return Stood(
            {path: file.copied() for path, file in self.published.items()},
            {path: file.copied() for path, file in self.draft.items()},
        )

    def stand(self, stood: Stood) -> None:
        """Bring files back."""
        self.published = {path: file.copied() for path, file in stood.published.items()}
        self.draft = {path: file.copied() for path, file in stood.draft.items()}

    def person(self) -> None:
        """Do something between two runs."""
        acts = [self.publish, self.publish, self.undo, self.undo, self.restore, self.edit_myself]
        acts += [self.discard] if self.chance.random() < 0.4 else [self.edit_myself]
        self.chance.choice(acts)()

    def publish(self) -> None:
        """Publish the draft, or a file of it."""
        if not self.draft:
            return
        names = sorted(self.draft)
        if self.chance.random() < 0.3:
            names = [self.chance.choice(names)]
        before = {path: file.copied() for path, file in self.published.items()}
        done = self.bench.ask("DraftPublish", workbench_id=self.wb, paths=names)
        self.checkpoints[done["checkpoint_id"]] = before
        for name in names:
            self.published[name] = self.draft.pop(name)

    def discard(self) -> None:
        """Throw the draft away."""
        if self.draft:
            self.bench.ask("DraftDiscard", workbench_id=self.wb)
            self.draft.clear()

    def undo(self) -> None:
        """Go back to a message, cut off or not."""
        if self.messages:
            message_id = self.chance.choice(list(self.messages))
            self.bench.ask("WorkshopUndoToMessage", workbench_id=self.wb, message_id=message_id)
            self.stand(self.messages[message_id])

    def restore(self) -> None:
        """Restore a checkpoint."""
        if self.checkpoints and not self.draft:
            checkpoint_id = self.chance.choice(list(self.checkpoints))
            params = {"workbench_id": self.wb, "checkpoint_id": checkpoint_id}
            self.bench.ask("CheckpointRestore", **params)
            self.stand(Stood(self.checkpoints[checkpoint_id], {}))

    def edit_myself(self) -> None:
        """Edit a file by a client's call, if it is of a format that has one."""
        names = [path for path in self.names if path not in ("a.txt", "b.csv")]
        if names:
            path = self.chance.choice(names)
            tool, arguments, edit = self.edit_file(path)
            method = f"{tool.partition('_')[0].capitalize()}ApplyOps"
            params = {k: v for k, v in arguments.items() if k != "operations"}
            self.bench.ask(method, workbench_id=self.wb, ops=arguments["operations"], **params)
            changed = [e for e in self.bench.daemon.events(self.wb) if e["type"] == "FileChanged"]
            self.seqs[edit] = changed[-1]["seq"]
            self.makers[edit] = ("", None, method)

    def check(self) -> None:
        """Compare each change of the draft with what was done, and chains of places."""
        for path in sorted(self.draft):
            diff = self.bench.ask("ReviewGetDiff", workbench_id=self.wb, path=path, limit=1000)
            assert not [w for w in diff["warnings"] if "certain" in w], diff
            for change in diff["changes"]:
                self.check_change(path, change)
        for path in self.names:
            file = self.current(path)
            if file is not None:
                parts = list(file.parts())
                for part in self.chance.sample(parts, min(SAMPLED, len(parts))):
                    self.check_chain(file, part)

    def check_change(self, path: str, change: dict[str, Any]) -> None:
        """Compare the maker of a change."""
        file, base = self.draft[path], self.published.get(path)
        maker = change["made_by"]
        edit = next(edit for edit, seq in self.seqs.items() if seq == maker["seq"])
        run_id, item, tool = self.makers[edit]
        assert (maker.get("run_id", ""), maker.get("item"), maker["tool"]) == (run_id, item, tool)
        assert maker.get("reason", f"Edit {edit}") == f"Edit {edit}"
        side = base if change["kind"] == "removed" else file
        parts = side.at(change["place"]) if side is not None else []
        if not parts:
            self.unclear += 1
        elif change["kind"] == "removed":
            # What is still there, differing so much that it is shown as another, was only changed.
            wanted = {file.removed[part.uid] for part in parts if part.uid in file.removed}
            touching = {e for p in file.parts() for e in p.edits if p.uid in {q.uid for q in parts}}
            assert edit in (wanted or touching), (path, change, wanted, edit)
        elif change["kind"] == "moved":
            assert edit in file.moved or edit in {e for p in parts for e in p.edits}, change
        else:
            wanted = {max(part.edits[0] for part in parts)}
            assert edit in wanted, (path, change, parts, edit)
        self.checked += 1

    def check_chain(self, file: BlamedFile, part: Part) -> None:
        """Compare all that touched a place."""
        place = file.place(part)
        blame = self.bench.ask(
            "ReviewGetBlame", workbench_id=self.wb, path=file.path, place=place, limit=200
        )
        seqs = [self.seqs[edit] for edit in part.edits]
        assert [step["seq"] for step in blame["chain"]] == seqs, (place, part, blame)
        assert blame["complete"], (place, part, blame)
        newest = blame["chain"][0]
        if part.token and len(seqs) > 1:
            assert part.token in str(newest["after"]), (place, part, blame)
        self.checked += 1


@pytest.fixture(scope="module", params=mostly("asyncio"))
def bench(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """A daemon on one backend, in the second tier on each."""
    more = {"KBD_LIMITS_FILE_BYTES": "1000000"}
    with wired(str(request.param), more=more) as running:
        yield running


def _check_seed(bench: Wired, seed: int, runs: int) -> int:
    blamed = Blamed(bench, seed)
    try:
        for number in range(runs):
            blamed.run(again=number > 1 and blamed.chance.random() < 0.25)
            blamed.check()
            blamed.person()
            blamed.check()
    except AssertionError as error:
        error.add_note(f"seed {seed}, workbench {blamed.wb}")
        raise
    return blamed.checked


@halved
@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_seeded_runs_are_blamed_for_what_they_did(bench: Wired, seed: int) -> None:
    """A few runs on a workbench."""
    assert _check_seed(bench, seed, 3) > 20


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(100, 125))
def test_two_hundred_seeded_runs_are_blamed_for_what_they_did(bench: Wired, seed: int) -> None:
    """Eight runs on each of 25 workbenches."""
    assert _check_seed(bench, seed, RUNS) > 40
