"""The hash of a document in the records of its run: written there, read back, absent elsewhere."""

import msgspec
import pytest

from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.base import Actor, Recorded
from kbd.events.runs import PhaseCompleted, RunStarted
from kbd.events.workbenches import UserMessageAdded
from kbd.types import Phase, Seq

DONE, CLIENT, HASH = PhaseCompleted(Phase.PLAN), Actor("kbd", 1), "ab" * 32


@pytest.mark.parametrize("actor", [None, CLIENT])
@pytest.mark.parametrize("document", ["", HASH])
def test_a_record_comes_back_with_its_document(actor: Actor | None, document: str) -> None:
    """With a client and without one; by the typed path and by the untyped one."""
    record = codec.wrap_event(DONE, 7, 1, 3, actor, document)
    body = codec.encode([record])
    (plain,) = codec.decode_plain(body)
    older = codec.encode([codec.wrap_event(DONE, 7, 1, 3, actor)])

    assert codec.decode(body) == [record]
    # What a newer kbd adds sends the reader down the untyped path.
    assert codec.decode(msgspec.msgpack.encode([[*plain[:8], *plain[8:]]])) == [record]
    assert codec.plain_record(plain, Seq(4), "x").get("document", "") == document
    assert (body == older) == (document == "")
    assert len(plain) == (9 if document else 8 if actor else 7)


def test_a_document_that_is_no_text_is_damage() -> None:
    """It is told as such, not read as something else."""
    (plain,) = codec.decode_plain(codec.encode([codec.wrap_event(DONE, 7, 1, document=HASH)]))
    plain[8] = 7

    with pytest.raises(LogCorrupt, match="document"):
        codec.decode(msgspec.msgpack.encode([plain]))


def test_the_document_of_a_run_is_that_of_its_message() -> None:
    """Of the newest message before the run begins, of its own ever after."""
    state = WorkbenchState()

    def fold(event: object, run: int = 0) -> None:
        record: Recorded = codec.wrap_event(event, 1, run)  # type: ignore[arg-type]
        fold_workbench(state, Seq(state.seq + 1), record)

    fold(UserMessageAdded("u1", "Recipe", 0, "recipe:x@ab", HASH))
    assert state.document_of(1) == HASH
    fold(RunStarted("u1", "recipe:x@ab"), 1)
    fold(UserMessageAdded("u2", "total by month"))
    assert (state.document_of(1), state.document_of(2)) == (HASH, "")
