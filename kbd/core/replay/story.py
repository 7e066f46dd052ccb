"""A run as a story: the events of a log folded into steps that a person can walk through.

`span` says which events belong to a run, `telling` folds them, `wording` names the steps.
"""

from collections.abc import Iterable

import msgspec

from kbd.core.replay.parts import Part
from kbd.core.replay.span import Numbered, span_of
from kbd.core.replay.telling import Teller
from kbd.events.plain_form import shown_time
from kbd.requests.replays import Step
from kbd.types import Seq, WorkbenchId

__all__ = ["Told", "steps_of", "told_of"]


class Told(msgspec.Struct, frozen=True):
    """A step and all the events that it tells of, in order."""

    step: Step
    seqs: tuple[Seq, ...]


def steps_of(workbench_id: WorkbenchId, run: int, events: Iterable[Numbered]) -> list[Step]:
    """Return the steps of a run in the order in which they ended; empty if there is no such run.

    Args:
        workbench_id: Whose log it is.
        run: The run's number.
        events: The whole log's, in order.
    """
    del workbench_id
    return [told.step for told in told_of(run, span_of(run, events))]


def told_of(run: int, span: Iterable[Numbered]) -> list[Told]:
    """Return the same with the events of each: every event of the run's span is told once."""
    teller = Teller(run)
    for seq, record in span:
        teller.tell(seq, record)
    # A step that is open when another one ends comes after it: walking on, the state goes on.
    parts = sorted(teller.finished(), key=lambda part: part.seqs[-1])
    return [Told(_step(index, part), tuple(part.seqs)) for index, part in enumerate(parts, 1)]


def _step(index: int, part: Part) -> Step:
    return Step(
        index=index,
        first_seq=part.seqs[0],
        seq=part.seqs[-1],
        kind=part.kind,
        title=part.title,
        ts=shown_time(part.began_us),
        duration_ms=part.duration_ms,
        phase=part.place.phase,
        item=part.place.item,
        attempt=part.place.attempt,
        text=part.text,
        model=part.model,
        call=part.call,
        items=part.items,
        files=tuple(part.files),
    )
