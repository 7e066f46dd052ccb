"""Attribution of changes: the newest step that touched a place, or nobody; never a wrong one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kbd.core.domain.lineage import FileLineage, LineageStep
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from kbd.core.workbench import attribution
from kbd.core.workbench.attribution import Attribution, StepFormats, steps_of_draft
from kbd.core.workbench.file_store import Blobs
from kbd.events.blobs import BlobStore
from kbd.formats import Change, ChangeKind, Comparison, Place, Trace
from kbd.types import BlobHash, FileName, Seq

pytestmark = pytest.mark.anyio

A = FileName("a")
DAMAGED = "damaged"


def at(line: int) -> Place:
    """Return the place of a line, from 1."""
    return Place(f"line {line}", line=line)


def change(kind: ChangeKind, line: int) -> Change:
    """Return a change of a line."""
    return Change(at(line), kind, "line")


class Letters(StepFormats):
    """A format of texts whose lines are a letter, by which they are known, and a digit.

    A version is named by its text; one that is "damaged" cannot be read.

    Args:
        folder: Where nothing is kept.
    """

    def __init__(self, folder: Path) -> None:
        plugins = Plugins.discover(Settings(), found=[])
        formats = FormatCalls(Catalog(plugins), WorkerPool(plugins, Settings()))
        super().__init__(formats, Blobs(BlobStore(folder), lambda data: data))
        self.traced = 0

    async def trace(
        self, older: LineageStep, newer: LineageStep, places: Sequence[Place], *, forward: bool
    ) -> tuple[Trace, ...] | None:
        """Follow lines by their letters."""
        self.traced += 1
        before, after = str(older.after).split(), str(newer.after).split()
        if DAMAGED in (*before, *after):
            return None
        here, there = (before, after) if forward else (after, before)
        letters = [line[0] for line in there]
        found: list[Trace] = []
        for place in places:
            assert place.line is not None
            line = here[place.line - 1]
            if line[0] not in letters:
                found.append(Trace(None))
                continue
            other = letters.index(line[0])
            found.append(Trace(at(other + 1), is_changed=there[other] != line))
        return tuple(found)

    async def compare(self, older: LineageStep | None, newer: LineageStep) -> Comparison | None:
        """Tell which lines moved: those that stand before one that they stood behind."""
        before = [line[0] for line in str(older.after).split()] if older is not None else []
        after = [line[0] for line in str(newer.after).split() if line[0] in before]
        moved = tuple(
            change("moved", number)
            for number, letter in enumerate(after, 1)
            if any(before.index(other) < before.index(letter) for other in after[number:])
        )
        return Comparison(changes=moved, total=len(moved), counts=())


def lineage(*versions: str | None) -> FileLineage:
    """Return the lineage of versions, oldest first; the first one is published, None is no file."""
    head: LineageStep | None = None
    base: LineageStep | None = None
    for number, version in enumerate(versions):
        after = BlobHash(version) if version is not None else None
        if number == 0 and after is None:
            continue
        head = LineageStep(
            seq=Seq(number), ts_us=0, kind="tool_call", name=A, after=after, older=head
        )
        base = base if number else head
    return FileLineage(base, head, base)


async def makers(
    folder: Path, versions: Sequence[str | None], *changes: Change, is_whole: bool = True
) -> list[int | None]:
    """Return the steps that made changes, each by the number of the version that it led to."""
    steps, reaches = steps_of_draft(lineage(*versions))
    assert reaches
    found = await Attribution(steps, Letters(folder), is_whole=is_whole).find_makers(changes)
    return [step.seq if step is not None else None for step in found]


async def test_the_newest_step_that_touched_a_place_made_it(tmp_path: Path) -> None:
    """However lines shifted meanwhile; what is left over is the first step's."""
    versions = ("a1 b1 c1", "a1 b2 c1", "x1 a1 b2 c1", "x1 a1 b2 c2", "y1 x1 a1 b2 c3")

    assert await makers(
        tmp_path,
        versions,
        change("added", 1),
        change("added", 2),
        change("changed", 4),
        change("changed", 5),
    ) == [4, 2, 1, 4]


async def test_one_step_is_asked_of_nobody(tmp_path: Path) -> None:
    """All changes are its own, without a look into the file."""
    steps, _ = steps_of_draft(lineage("a1 b1", "a2"))
    letters = Letters(tmp_path)
    found = await Attribution(steps, letters, is_whole=True).find_makers(
        [change("changed", 1), change("removed", 2)]
    )

    assert [step and step.seq for step in found] == [1, 1]
    assert letters.traced == 0


async def test_what_was_removed_is_followed_from_the_reference_on(tmp_path: Path) -> None:
    """To the step across which it went, whatever changed it before."""
    versions = ("a1 b1 c1", "x1 a1 b2 c1", "a1 b2", "b2", "b3")

    assert await makers(
        tmp_path, versions, change("removed", 1), change("removed", 2), change("removed", 3)
    ) == [3, 4, 2]


async def test_what_moved_is_the_step_that_moved_it(tmp_path: Path) -> None:
    """Content that a newer step changed is the newer one's; a shift is no move."""
    versions = ("a1 b1 c1", "b1 c1 a1", "x1 b1 c1 a1", "x1 b2 c1 a1")
    assert await makers(tmp_path, versions, change("moved", 2), change("moved", 3)) == [3, 1]
    # Seen from the end it is `a` that moved; in its step, those that it went behind.
    assert await makers(tmp_path, versions[:3], change("moved", 4)) == [1]


async def test_of_two_steps_that_moved_others_none_is_named(tmp_path: Path) -> None:
    """A step that moved something else is not taken for the one."""
    versions = ("a1 b1 c1 d1", "b1 a1 c1 d1", "b1 a1 d1 c1", "b1 a1 d1 c2")

    assert await makers(tmp_path, versions, change("moved", 1), change("moved", 2)) == [1, None]


async def test_a_version_that_cannot_be_read_leaves_in_doubt_only_its_neighbors(
    tmp_path: Path,
) -> None:
    """What the steps around it changed has no certain maker; what others did has one."""
    versions = ("a1 b1 c1 d1", "a2 b1 c1 d1", DAMAGED, "a2 b2 c1 d1", "a2 b2 c2 d1")
    changes = (change("changed", 1), change("changed", 2), change("changed", 3))

    assert await makers(tmp_path, versions, *changes) == [1, None, 4]
    versions = ("a1 b1 c1", "b1 c1", DAMAGED, "c1", "x1")
    removed = (change("removed", 1), change("removed", 2), change("removed", 3))
    assert await makers(tmp_path, versions, *removed) == [1, None, 4]


async def test_nothing_is_concluded_from_a_reference_that_was_not_compared(tmp_path: Path) -> None:
    """What no step is seen to have touched may have been there all along."""
    versions = (DAMAGED, "a1 b1", "a1 b2")

    assert await makers(
        tmp_path, versions, change("added", 1), change("added", 2), is_whole=False
    ) == [None, 2]


async def test_a_new_file_is_made_by_the_step_that_made_it(tmp_path: Path) -> None:
    """And by those that changed it; likewise one that was removed and made again."""
    assert await makers(
        tmp_path, (None, "a1 b1", "a1 b2"), change("added", 1), change("added", 2)
    ) == [1, 2]
    versions = ("a1 b1", "a2 b1", None, "a3", "a3 c1")
    assert await makers(
        tmp_path, versions, change("changed", 1), change("added", 2), change("removed", 2)
    ) == [3, 4, 2]


async def test_a_file_that_is_compared_by_its_bytes_is_the_newest_steps(tmp_path: Path) -> None:
    """Each step changed them."""
    whole = Change(Place("a"), "changed", "file")

    assert await makers(tmp_path, ("a1", "a2", "a3"), whole, is_whole=False) == [2]


async def test_no_more_steps_are_looked_into_than_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is older than that has no maker, rather than a likely one."""
    monkeypatch.setattr(attribution, "MAX_TRACED_STEPS", 0)
    steps, _ = steps_of_draft(lineage("a1", "a2", "a3"))
    plugins = Plugins.discover(Settings(), found=[])
    formats = FormatCalls(Catalog(plugins), WorkerPool(plugins, Settings()))
    limited = StepFormats(formats, Blobs(BlobStore(tmp_path), lambda data: data))

    found = await Attribution(steps, limited, is_whole=True).find_makers([change("changed", 1)])
    assert found == [None]


async def test_without_a_lineage_nobody_made_anything(tmp_path: Path) -> None:
    """As many answers as changes."""
    assert await makers(tmp_path, ("a1",), change("changed", 1)) == [None]
