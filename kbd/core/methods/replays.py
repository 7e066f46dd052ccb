"""Methods that look back: a run step by step, a workbench as it stood after an event."""

from collections.abc import Sequence

import msgspec
from anyio.to_thread import run_sync

from kbd.core.bench import Bench
from kbd.core.methods.shop import Shop
from kbd.core.queries.runs import run_info
from kbd.core.replay.moments import files_at, run_at, state_at, state_hash
from kbd.core.replay.span import Numbered
from kbd.core.replay.story import steps_of
from kbd.core.server import Handler, Session
from kbd.core.state import Run
from kbd.errors import NotFound
from kbd.events.base import Recorded
from kbd.events.reading import read_log
from kbd.events.shown import shown_time
from kbd.requests import replays as wire
from kbd.requests.base import Request
from kbd.types import RunId, Seq

__all__ = ["ReplayMethods"]

PAGE_BYTES = 1 << 20
"""How much JSON of steps one answer holds; a first step that is larger is told alone."""


class ReplayMethods:
    """Tells the steps of runs, and the state at events."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.ReplaySteps: self.steps, wire.StateAt: self.state}

    async def steps(self, request: wire.ReplaySteps, session: Session) -> wire.StepsFound:
        """Return steps of a run.

        Raises:
            NotFound: There is no such run.
        """
        del session
        bench, run = await self._run(request.run_id)
        steps = await run_sync(_steps, bench, run.number, bench.keeper.journal.seq)
        return wire.StepsFound(
            run=run_info(bench.state, run, self._shop.cost_of(run)),
            request=_request(bench, run),
            steps=_page(steps[request.after :], request.limit),
            total=len(steps),
        )

    async def state(self, request: wire.StateAt, session: Session) -> wire.StateFound:
        """Return how a workbench stood.

        Raises:
            NotFound: There is no such workbench, or no such event.
            LogCorrupt: The log is damaged before it.
        """
        del session
        bench = await self._shop.bench(request.workbench_id)
        if request.seq > (last := bench.keeper.journal.seq):
            msg = f"the log ends at event {last}; there is no event {request.seq}"
            raise NotFound(msg, detail={"last_seq": last})
        state = await run_sync(state_at, bench.folders.log, request.seq)
        return wire.StateFound(
            workbench_id=bench.id,
            seq=request.seq,
            ts=shown_time(state.updated_at_us),
            name=state.name,
            state_hash=await run_sync(state_hash, state),
            files=files_at(state),
            draft_id=state.draft.draft_id if state.draft else "",
            run=run_at(state),
        )

    async def _run(self, run_id: RunId) -> tuple[Bench, Run]:
        workbench_id, _, number = run_id.partition("-")
        bench = await self._shop.bench(workbench_id)
        try:
            return bench, bench.state.run(int(number))
        except IndexError:
            msg = f"there is no run {run_id}"
            raise NotFound(msg) from None


def _request(bench: Bench, run: Run) -> str:
    wanted = run.message_id
    return next((said.text for said in bench.state.said if said.message_id == wanted), "")


def _steps(bench: Bench, run: int, last: Seq) -> list[wire.Step]:
    events: list[Numbered] = []

    def keep(seq: Seq, record: Recorded) -> None:
        events.append((seq, record))

    read_log(bench.folders.log, keep, last)
    return steps_of(bench.id, run, events)


def _page(steps: Sequence[wire.Step], limit: int) -> tuple[wire.Step, ...]:
    """Return the first steps, as many as were asked for and fit into an answer."""
    page: list[wire.Step] = []
    size_bytes = 0
    for step in steps[:limit]:
        size_bytes += len(msgspec.json.encode(step))
        if page and size_bytes > PAGE_BYTES:
            break
        page.append(step)
    return tuple(page)
