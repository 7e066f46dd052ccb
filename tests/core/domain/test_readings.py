"""What was said of how a file's tables are to be read is said of that file alone."""

from collections.abc import Callable

import pytest

from folding import Folded, blob
from kbd.core.domain.commands import ChooseReading, CompletePublish, IntendPublish
from kbd.events.drafts import (
    DraftDiscarded,
    DraftOpened,
    FileAdopted,
    FileChanged,
)
from kbd.events.workbenches import FileRemoved
from kbd.types import FileName, ReadAs

A = FileName("a.csv")
GERMAN = ReadAs(decimal=",", header_row=3)


def _published() -> Folded:
    """A workbench with a file of which it was said how to read it."""
    folded = Folded()
    folded.add(A, "a")
    folded.do(ChooseReading(A, GERMAN))
    assert folded.state.readings == {A: GERMAN}
    return folded


def _drafted() -> Folded:
    """The same of a file that is in the draft alone."""
    folded = Folded()
    folded.apply(DraftOpened("d"), FileChanged(A, None, blob("a"), 5))
    folded.do(ChooseReading(A, GERMAN))
    return folded


def _publish(folded: Folded) -> None:
    found = {name: entry.blob for name, entry in folded.state.files.items()}
    folded.do(IntendPublish("p", None, found))
    folded.do(CompletePublish("c"))


def _removed() -> Folded:
    folded = _published()
    folded.apply(FileRemoved(A))
    return folded


def _taken_away() -> Folded:
    folded = _published()
    folded.apply(FileAdopted(A, None))
    return folded


def _deleted_by_a_publish() -> Folded:
    folded = _published()
    folded.apply(DraftOpened("d"), FileChanged(A, blob("a"), None, 0))
    folded.state.draft.confirmed.append(A)  # type: ignore[union-attr]
    _publish(folded)
    return folded


def _discarded() -> Folded:
    folded = _drafted()
    folded.apply(DraftDiscarded("d"))
    return folded


def _rolled_back() -> Folded:
    folded = _drafted()
    folded.apply(FileChanged(A, blob("a"), None, 0))
    return folded


GONE = (_removed, _taken_away, _deleted_by_a_publish, _discarded, _rolled_back)


def _add(folded: Folded) -> None:
    folded.add(A, "b")


def _write(folded: Folded) -> None:
    folded.apply(DraftOpened("e"), FileChanged(A, None, blob("b"), 5))


def _adopt(folded: Folded) -> None:
    folded.apply(FileAdopted(A, blob("b"), 5))


@pytest.mark.parametrize("come", [_add, _write, _adopt])
@pytest.mark.parametrize("gone", GONE)
def test_another_file_of_the_name_is_read_anew(
    gone: Callable[[], Folded], come: Callable[[Folded], None]
) -> None:
    """However the one went, and the other came: nothing was said of it."""
    folded = gone()
    assert folded.state.current_file(A) is None
    come(folded)
    assert folded.state.current_file(A) is not None
    assert folded.state.readings == {}


def test_another_version_of_the_file_is_read_as_was_said() -> None:
    """Whoever brings it: it is the same table, with newer rows."""
    folded = _published()
    folded.add(A, "b")
    folded.apply(DraftOpened("d"), FileChanged(A, blob("b"), blob("c"), 5))
    _publish(folded)
    folded.apply(FileAdopted(A, blob("d"), 5))
    assert folded.state.readings == {A: GERMAN}


def test_it_is_kept_from_the_draft_to_the_publish() -> None:
    """What was said of a file in the draft holds when it is published."""
    folded = _drafted()
    _publish(folded)
    assert folded.state.files[A].blob == blob("a")
    assert folded.state.readings == {A: GERMAN}
