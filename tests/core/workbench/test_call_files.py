"""What one call sees of a workbench's files, and what it says that it wrote."""

from pathlib import Path

import pytest

from folding import Folded
from kbd.core.domain.commands import SendMessage, StartRun
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.file_store import Blobs
from kbd.errors import SandboxViolation
from kbd.events.blobs import BlobStore
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import ItemStarted, PhaseStarted
from kbd.events.workbenches import FileAdded
from kbd.types import CallId, FileName, Phase

pytestmark = pytest.mark.anyio

A, NEW, GONE = FileName("a.book"), FileName("new.book"), FileName("gone.book")
CALL = CallId("c1")


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    """An empty store of blobs."""
    return Blobs(BlobStore(tmp_path / "blobs"))


def opened(
    state: WorkbenchState, blobs: Blobs, tmp_path: Path, *, published: bool = False
) -> CallFiles:
    """The files as a call sees them."""
    stage = tmp_path / "stage"
    stage.mkdir(exist_ok=True)
    return CallFiles(state, blobs, stage, tmp_path / "cache", lambda _: {}, published=published)


def put(
    files: CallFiles, name: FileName, text: str, *external: str, notes: tuple[str, ...] = ()
) -> None:
    """Stage a text and put it."""
    staged = files.stage()
    staged.write_text(text)
    files.put(name, staged, external=external, notes=notes)


async def test_what_an_edit_brings_is_added_to_what_is_there(blobs: Blobs, tmp_path: Path) -> None:
    """The change says all that the review should show of the file now, and what it was before."""
    folded = Folded()
    folded.add(A, "a")
    files = opened(folded.state, blobs, tmp_path)
    assert files.get(A).external == ()
    put(files, A, "one", "B2: WEBSERVICE")
    (first,) = await files.land(CALL)
    assert (first.warnings, first.before_warnings) == (("B2: WEBSERVICE",), ())
    folded.apply(DraftOpened("d"), first)

    files = opened(folded.state, blobs, tmp_path)
    assert files.get(A).external == ("B2: WEBSERVICE",)
    put(files, A, "two", "C3: a link", "B2: WEBSERVICE")
    (second,) = await files.land(CALL)
    assert second.warnings == ("B2: WEBSERVICE", "C3: a link")
    assert second.before_warnings == ("B2: WEBSERVICE",)
    folded.apply(second)

    files = opened(folded.state, blobs, tmp_path)
    put(files, A, "three")
    (harmless,) = await files.land(CALL)
    assert harmless.warnings == second.warnings


async def test_what_an_edit_takes_out_is_not_warned_of(blobs: Blobs, tmp_path: Path) -> None:
    """Of what was there just that stays which the edit says is left; what it brings is added."""
    folded = Folded()
    folded.add(A, "a")
    files = opened(folded.state, blobs, tmp_path)
    put(files, A, "one", "B2: WEBSERVICE", "C3: a link")
    folded.apply(DraftOpened("d"), *await files.land(CALL))

    files = opened(folded.state, blobs, tmp_path)
    staged = files.stage()
    staged.write_text("two")
    files.put(A, staged, external=("D4: a link",), remaining=("C3: a link", "never: there"))
    (change,) = await files.land(CALL)
    assert change.warnings == ("C3: a link", "D4: a link")
    assert change.before_warnings == ("B2: WEBSERVICE", "C3: a link")
    folded.apply(change)

    files = opened(folded.state, blobs, tmp_path)
    staged = files.stage()
    staged.write_text("whole")
    files.put(A, staged, remaining=())
    (change,) = await files.land(CALL)
    assert change.warnings == ()


async def test_a_new_file_has_what_it_was_put_with(blobs: Blobs, tmp_path: Path) -> None:
    """Nothing is known of it from before."""
    files = opened(Folded().state, blobs, tmp_path)
    put(files, NEW, "text", "a link")
    (change,) = await files.land(CALL)

    assert (change.before, change.warnings, change.before_warnings) == (None, ("a link",), ())


async def test_what_is_published_can_be_seen_beside_the_draft(blobs: Blobs, tmp_path: Path) -> None:
    """The published view has the published versions: no new file, and a deleted one still."""
    folded = Folded()
    base = await blobs.put(b"base")
    changed = await blobs.put(b"changed")
    folded.apply(
        FileAdded(A, base, 4),
        FileAdded(GONE, base, 4),
        DraftOpened("d"),
        FileChanged(A, base, changed, 7),
        FileChanged(NEW, None, changed, 7),
        FileChanged(GONE, base, None),
    )
    draft = opened(folded.state, blobs, tmp_path)
    published = opened(folded.state, blobs, tmp_path, published=True)

    assert list(draft.names()) == ["a.book", "new.book"]
    assert list(published.names()) == ["a.book", "gone.book"]
    assert draft.get("a.book").path.read_bytes() == b"changed"
    assert published.get("a.book").path.read_bytes() == b"base"


async def test_files_are_compared_with_what_they_were(blobs: Blobs, tmp_path: Path) -> None:
    """When the draft began, under another name, too; and when the open attempt at an item did."""
    folded = Folded()
    base, first, second = [await blobs.put(data) for data in (b"base", b"first", b"second")]
    folded.apply(
        FileAdded(A, base, 4),
        FileAdded(GONE, second, 6),
        DraftOpened("d"),
        FileChanged(A, base, first, 5, 4),
        FileChanged(GONE, second, None, before_size_bytes=6),
        FileChanged(NEW, None, second, 6),
    )
    files = opened(folded.state, blobs, tmp_path)
    assert files.moments() == ("draft",)
    before = files.before("draft/a.book", "draft")
    assert before is not None
    assert (before.blob, before.size_bytes, before.path.read_bytes()) == (base, 4, b"base")
    removed, renamed = files.before(GONE, "draft"), files.before(NEW, "draft")
    assert removed is not None
    assert renamed is not None
    assert (removed.blob, renamed.blob, renamed.name) == (second, second, NEW)
    assert opened(folded.state, blobs, tmp_path, published=True).moments() == ("draft",)

    folded.do(SendMessage("u1", "go"))
    folded.do(StartRun("u1", "offline:planner"))
    folded.apply(PhaseStarted(Phase.IMPLEMENT), ItemStarted(1, 1), run=1)
    changes = FileChanged(A, first, second, 6, 5), FileChanged(A, second, base, 4, 6)
    folded.apply(*changes, FileChanged(FileName("b"), None, base, 4), run=1)
    files = opened(folded.state, blobs, tmp_path)
    assert files.moments() == ("item", "draft")
    began = files.before(A, "item")
    assert began is not None
    assert (began.blob, began.size_bytes) == (first, 5)
    assert files.before("b", "item") is None
    untouched = files.before(NEW, "item")
    assert untouched is not None
    assert untouched.blob == second
    with pytest.raises(SandboxViolation):
        files.before("../a.book", "item")


async def test_notes_of_several_edits_add_up(blobs: Blobs, tmp_path: Path) -> None:
    """The review sees what each edit noticed, once, the newest twenty; a publish asks for none."""
    folded = Folded()
    folded.add(A, "a")
    folded.apply(DraftOpened("d"))
    files = opened(folded.state, blobs, tmp_path)
    put(files, A, "one", notes=("skipped",))
    folded.apply(*await files.land(CALL))
    files = opened(folded.state, blobs, tmp_path)
    put(files, A, "two", notes=("skipped", "text like a formula"))
    (change,) = await files.land(CALL)
    folded.apply(change)
    assert (change.notes, change.before_notes) == (
        ("skipped", "text like a formula"),
        ("skipped",),
    )
    assert change.warnings == ()

    files = opened(folded.state, blobs, tmp_path)
    put(files, A, "three", notes=tuple(f"note {count}" for count in range(30)))
    (change,) = await files.land(CALL)
    assert change.notes == tuple(f"note {count}" for count in range(10, 30))
