"""Random conversations, with undos and forks: whatever was done, each message can be gone back to.

A run of a scripted model, edits and files of a person, publishes, discards, restores, undos back
and forward, other answers and forks come in a seeded order. After each undo the workbench is
compared with what it was after that message, with a fold of the log, and with both folders; and the
pages of the conversation with all of it.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_rig import call, item_of, said, say
from backends import on_asyncio
from kbd.core.agent.readable_copies import copy_texts
from kbd.core.api.drafts import CheckpointMethods, DraftMethods
from kbd.core.api.files import FileMethods
from kbd.core.api.runs import ConversationMethods
from kbd.core.api.workbenches import ForkMethods
from kbd.core.domain.commands import ConfirmDeletions, DiscardDraft, SendMessage, StartRun
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import state_at
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.providers import ModelReply, ModelRequest
from kbd.requests import drafts, workbenches, workshop
from kbd.types import Phase, Seq
from quiet import Quiet
from supervised import Supervised, draft, files_in, supervised
from unattended_rig import MODEL, unattended

pytestmark = pytest.mark.anyio

NAMES = ("a.txt", "b.txt", "c.txt", "d.txt")


class Stood(msgspec.Struct, frozen=True):
    """How a workbench stood: published and drafted contents, what was said, how the runs stood."""

    files: dict[str, str]
    draft: dict[str, str | None] | None
    said: tuple[str, ...]
    runs: tuple[tuple[int, bool, bool], ...]
    current: int


class Writer:
    """A model that writes what it is told to."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, str]] = []

    def play(self, request: ModelRequest) -> ModelReply:
        """Play a turn."""
        match request.phase, said(request):
            case Phase.PLAN, _:
                items = "\n".join(f"- [ ] {n + 1}. write" for n in range(len(self.writes) or 1))
                return say(f"## Task\nwrite\n## Items\n{items}\n## Notes\n")
            case Phase.IMPLEMENT, 0 if self.writes:
                name, content = self.writes[item_of(request)[0] - 1]
                return call("write_note", path=name, content=content)
            case _:
                return say("done")


class Conversation:
    """One workbench, and what a person does in it in a seeded order."""

    def __init__(
        self, running: Supervised, bench: OpenWorkbench, writer: Writer, seed: int
    ) -> None:
        self.running, self.bench, self.writer = running, bench, writer
        self.chance = random.Random(seed)
        self.then: dict[str, Stood] = {}
        self.done: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        """Return a content that was never there."""
        self.count += 1
        return f"content {self.count}"

    async def step(self) -> None:
        """Do something; what is refused has done nothing."""
        weights = {
            self.send: 3, self.run: 6, self.edit: 3, self.add: 2, self.remove: 2,
            self.publish: 4, self.discard: 2, self.recover: 2, self.restore: 1, self.undo: 6,
            self.regenerate: 2, self.fork: 1,
        }  # fmt: skip
        (chosen,) = self.chance.choices(list(weights), list(weights.values()))
        before, checkpoints = self.stands(), list(self.bench.state.checkpoints)
        try:
            await chosen()
        except KbdError as refused:
            self.done.append(f"{chosen.__name__} refused: {refused.message[:60]}")
            assert self.stands() == before
        else:
            self.done.append(chosen.__name__)
        assert files_in(self.bench.folders.published) == self.stands().files, self.done
        # The cursors of their list rest on this: none goes, and none comes before another.
        assert self.bench.state.checkpoints[: len(checkpoints)] == checkpoints, self.done
        self.check_shown()

    async def send(self) -> None:
        """Ask for something."""
        message_id = f"u{len(self.bench.state.heard)}"
        await self.bench.keeper.submit(SendMessage(message_id, "do it"))
        self.then[message_id] = self.stands()

    async def run(self) -> None:
        """Have the newest message answered."""
        self._plan_writes()
        started = await self.bench.keeper.submit(StartRun(None, MODEL))
        await self._ended(started.run)

    async def regenerate(self) -> None:
        """Have a message answered once more."""
        self._plan_writes()
        asked = workshop.WorkshopRegenerate(
            workbench_id=self.bench.id, message_id=self._any_message(), model_id=MODEL
        )
        answer = await ConversationMethods(
            self.running.context, self.running.benches, self.running.runs
        ).regenerate(asked, Quiet())
        await self._ended(int(answer.run_id.rpartition("-")[2]))
        assert self.bench.state.said[-2].message_id == answer.message_id

    async def edit(self) -> None:
        """Change a file in the draft by hand."""
        name = self.chance.choice(NAMES).replace(".", "__")
        await draft(self.bench, **{name: self.fresh()})

    async def add(self) -> None:
        """Add a file of one's own."""
        source = self.running.home.folder / self.fresh() / self.chance.choice(NAMES)
        source.parent.mkdir()
        source.write_text(self.fresh())
        asked = workbenches.WorkbenchFilesAdd(
            workbench_id=self.bench.id, source_paths=(str(source),)
        )
        await FileMethods(self.running.context, self.running.benches).add(asked, Quiet())

    async def remove(self) -> None:
        """Take a file out, with a draft open in the draft."""
        asked = workbenches.WorkbenchFilesRemove(
            workbench_id=self.bench.id, workbench_paths=(self.chance.choice(NAMES),)
        )
        await FileMethods(self.running.context, self.running.benches).remove(asked, Quiet())

    async def publish(self) -> None:
        """Publish the draft, deletions and all."""
        opened = self.bench.state.draft
        deleted = [n for n, file in opened.files.items() if file.blob is None] if opened else []
        if deleted:
            await self.bench.keeper.submit(ConfirmDeletions(tuple(deleted)))
        await publish(
            self.bench, self.running.context.clock, names=None, keep_both=False,
            accept_external=False, progress=lambda _: None,
        )  # fmt: skip

    async def discard(self) -> None:
        """Throw the draft away."""
        await self.bench.keeper.submit(DiscardDraft())

    async def recover(self) -> None:
        """Make a draft that ended the draft again: as it was, but for what is published by now."""
        ended = self.bench.state.ended_drafts
        seq = self.chance.choice(ended).seq if ended else Seq(1)
        asked = drafts.WorkbenchRecover(workbench_id=self.bench.id, ended_seq=seq)
        await DraftMethods(self.running.context, self.running.benches).recover(asked, Quiet())
        then = state_at(self.bench.folders.log, Seq(seq - 1)).draft
        published, now = self.bench.state.files, self.bench.state.draft
        assert then is not None
        assert now is not None
        assert now.files == {
            name: file
            for name, file in then.files.items()
            if file.blob != (published[name].blob if name in published else None)
        }, self.done
        assert now.confirmed == []
        for number in now.authors():
            assert not self.bench.state.run(number).discarded

    async def restore(self) -> None:
        """Bring a checkpoint back."""
        made = self.bench.state.checkpoints
        chosen = self.chance.choice(made).checkpoint_id if made else "none"
        wanted = {
            f.name: self.text(f.blob) for c in made if c.checkpoint_id == chosen for f in c.files
        }
        asked = drafts.CheckpointRestore(workbench_id=self.bench.id, checkpoint_id=chosen)
        await CheckpointMethods(self.running.context, self.running.benches).restore(asked, Quiet())
        assert self.stands().files == wanted

    async def undo(self) -> None:
        """Go back to a message, or forward to one that was cut off; all is as it was."""
        message_id = self._any_message()
        asked = workshop.WorkshopUndoToMessage(workbench_id=self.bench.id, message_id=message_id)
        done = await ConversationMethods(
            self.running.context, self.running.benches, self.running.runs
        ).undo(asked, Quiet())
        wanted = self.then[message_id]
        runs = len(self.bench.state.runs)
        later = tuple((n, True, False) for n in range(len(wanted.runs) + 1, runs + 1))
        found = self.stands()
        assert found == msgspec.structs.replace(wanted, runs=(*wanted.runs, *later)), self.done
        assert done.has_draft == (wanted.draft is not None)
        folded = state_at(self.bench.folders.log, self.bench.state.heard[message_id].seq)
        assert (folded.files, folded.draft) == (self.bench.state.files, self.bench.state.draft)
        assert folded.said == self.bench.state.said
        await self.check_pages()

    async def fork(self) -> None:
        """Make another workbench of what was after a message."""
        message_id = self._any_message()
        asked = workbenches.WorkbenchFork(
            source_workbench_id=self.bench.id, mode="clone_all", name="fork",
            from_message_id=message_id,
        )  # fmt: skip
        forked = await ForkMethods(self.running.context, self.running.benches).fork(asked, Quiet())
        other = await self.running.benches.open(forked.workbench_id)
        wanted = self.then[message_id]
        assert files_in(other.folders.published) == wanted.files
        assert tuple(each.message_id for each in other.state.said) == wanted.said
        assert other.state.draft is None

    async def check_pages(self) -> None:
        """Check that the pages of the conversation are all of it, in both orders."""
        methods = ConversationMethods(self.running.context, self.running.benches, self.running.runs)
        asked = workshop.WorkshopGetConversation(workbench_id=self.bench.id)
        whole = (await methods.get(asked, Quiet())).messages
        for backward in (False, True):
            page = msgspec.structs.replace(asked, limit=7, descending=backward)
            found = [await methods.get(page, Quiet())]
            while cursor := found[-1].next_cursor:
                next_page = msgspec.structs.replace(page, cursor=cursor)
                found.append(await methods.get(next_page, Quiet()))
            entries = tuple(entry for each in found for entry in each.messages)
            assert entries == (whole[::-1] if backward else whole), self.done

    def check_shown(self) -> None:
        """Check that draft/ and _rpi/ have what they have to have, to the byte, without a wait."""
        drafted = self.stands().draft or {}
        wanted = {name: text for name, text in drafted.items() if text is not None}
        assert files_in(self.bench.folders.draft) == wanted, self.done
        copies = {name: text for name, text in copy_texts(self.bench.state).items() if text}
        assert files_in(self.bench.folders.workshop / "_rpi") == copies, self.done

    def stands(self) -> Stood:
        """Return how the workbench stands."""
        state = self.bench.state
        drafted = state.draft.files.items() if state.draft else ()
        texts: dict[str, str | None] = {
            name: self.text(file.blob) if file.blob else None for name, file in drafted
        }
        return Stood(
            {name: self.text(entry.blob) for name, entry in sorted(state.files.items())},
            texts if state.draft else None,
            tuple(each.message_id for each in state.said),
            tuple((run.number, run.undone, run.discarded) for run in state.runs),
            state.current,
        )

    def text(self, blob: Any) -> str:
        """Return kept bytes."""
        return self.bench.blobs.path(blob).read_text()

    async def _ended(self, number: int) -> None:
        await self.running.runs.wait(self.bench, number)
        run = self.bench.state.run(number)
        assert run.status == "finished", run
        if self.bench.state.said[-1].run == number:
            self.then.setdefault(self.bench.state.said[-1].message_id, self.stands())

    def _plan_writes(self) -> None:
        names = self.chance.sample(NAMES, self.chance.randint(0, 2))
        self.writer.writes = [(name, self.fresh()) for name in names]

    def _any_message(self) -> str:
        return self.chance.choice([*self.bench.state.heard] or ["none"])


@asynccontextmanager
async def _opened(home: Path, seed: int) -> AsyncIterator[Conversation]:
    writer = Writer()
    async with unattended(home, writer.play) as (running, _):
        bench = await running.bench(a__txt="first")
        yield Conversation(running, bench, writer, seed)


async def _converse(home: Path, seed: int, steps: int) -> Conversation:
    async with _opened(home, seed) as conversation:
        await conversation.send()
        await conversation.run()
        for _ in range(steps):
            await conversation.step()
        live: WorkbenchState = conversation.bench.state
        folded = state_at(conversation.bench.folders.log, live.seq)
        assert folded == live
    # A start makes the same of the log, and of the folders.
    async with supervised(home) as again:
        bench = await again.benches.open(conversation.bench.id)
        assert bench.state.said == live.said
        assert (bench.state.files, bench.state.draft) == (live.files, live.draft)
    return conversation


@on_asyncio
async def test_a_conversation_in_any_order(tmp_path: Path) -> None:
    """A short one in the first tier, in which something is undone behind a publish."""
    conversation = await _converse(tmp_path / "h", 42, 32)
    done = {"undo", "publish", "run", "regenerate", "discard", "recover", "fork"}
    assert done <= set(conversation.done), conversation.done


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
async def test_many_conversations_in_any_order(tmp_path: Path, seed: int) -> None:
    """Long ones, on both backends."""
    conversation = await _converse(tmp_path / "h", seed, 80)
    assert conversation.done.count("undo") > 3
