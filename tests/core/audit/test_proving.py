"""A run's calls done again: equal where they are, and located where they are not."""

from pathlib import Path

import anyio
import pytest
import structlog

from agent_rig import (
    Broken,
    Note,
    Opened,
    ReadFile,
    RecallResult,
    Rig,
    Rows,
    Slow,
    WriteNote,
    call,
    item_of,
    said,
    say,
    two_items,
)
from backends import on_asyncio, on_trio
from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.errors import LogCorrupt, NotFound
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import ItemRetried, ToolRefused, ToolReturned
from kbd.messages import UNREADABLE, ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.requests.replays import Divergence
from kbd.tools import ToolContext, ToolResult
from kbd.types import BlobHash, CallId, FileName, Phase
from proof_rig import KINDS, Kind, Moody, asks, catalog_of, contents, proved, turns

pytestmark = pytest.mark.anyio

LIMITS = RunLimits(calls_a_turn=6, item_turns=12)


def everything(request: ModelRequest) -> ModelReply:
    """A model whose run holds every kind of call: the first attempt at its item fails."""
    if request.phase is Phase.RESEARCH and said(request) == 0:
        return asks(("rows", {"rows": 5_000}), ("write_note", {"path": "no.txt", "content": "n"}))
    if request.phase is not Phase.IMPLEMENT:
        return say("- [ ] 1. one") if request.phase is Phase.PLAN else say("done")
    _, attempt = item_of(request)
    match said(request):
        case 0:
            return asks(
                ("write_note", {"path": "a.txt", "content": f"attempt {attempt}"}),
                ("read_file", {"path": "a.txt"}),
                ("read_file", {"path": "missing.txt"}),
                ("rows", {"rows": 200}),
                ("no_tool", {}),
                ("write_note", {"path": "a.txt"}),
                ("rows", {"rows": 1}),
                ("rows", {"rows": 2}),
            )
        case 1:
            return asks(("broken", {}), ("recall_tool_result", {"entry_id": 1}))
        case 2:
            return asks(
                ("recall_tool_result", {"entry_id": 99}), ("write_note", {"path": "b.txt",
                 "content": "long " * 20_000}), ("read_file", {"path": "b.txt"}),
            )  # fmt: skip
        case 3 | 4 | 5:
            return call("rows", f"again{said(request)}", rows=7)
        case _ if attempt == 1:
            return say("")  # Fails the attempt: what it wrote is rolled back.
        case _:
            return say("did it")


@on_asyncio
async def test_a_run_with_every_kind_of_call_comes_out_as_recorded(
    opened: Opened, tmp_path: Path
) -> None:
    """Reads, writes, receipts, blobs, recalls, refusals, failures, notes, a retry; none changed."""
    with structlog.testing.capture_logs():
        await prove_everything(opened, tmp_path)


async def prove_everything(opened: Opened, tmp_path: Path) -> None:
    """Make that run and prove it."""
    async with opened(everything, limits=LIMITS) as rig:
        run = await rig.go()
        before = contents(rig.folder)
        found = await proved(rig, tmp_path / "scratch")

        assert run.status is RunStatus.FINISHED
        assert contents(rig.folder) == before
    ended = [e for e in rig.events() if isinstance(e, ToolReturned | ToolRefused)]
    returned = [e for e in ended if isinstance(e, ToolReturned)]
    assert found.divergences == ()
    assert found.skipped == ()
    assert found.calls == found.equal == len(ended)
    assert found.refusals == len(ended) - len(returned) == 9
    assert found.files == 4
    # What the run is to have, else this would prove less than it says.
    assert sum(isinstance(e, ItemRetried) for e in rig.events()) == 1
    assert any(e.blob for e in returned)
    assert any('"receipt":true' in e.shown for e in returned)
    assert sum("Note: this same call" in e.shown for e in returned) == 2
    assert sum(isinstance(e, ToolRefused) and not e.fingerprint for e in ended) == 4
    assert {e.error_code for e in returned} == {None, "NOT_FOUND", "FILE_WRITE_FAILED"}


EXPECTED = {
    "field": (("result", "shown"), ["rows[2][1]"], None),
    "text": (("result", "shown"), ["text (line 42, character 6)"], None),
    "error": (("outcome", "result", "shown"), ["error_code", "error"], None),
    "mood": (("outcome", "result", "shown"), ["ok", "error_code"], None),
    "bytes": (("files",), [], (13, (), "line 3")),
    "warning": (("files",), ['files["warning.bin"].warnings[0]'], None),
    "part": (("files",), [], (None, ("data/other.xml", "new0.xml", "new1.xml"), "")),
    "order": (("files",), [], (None, (), "all parts are equal; the package's order differ")),
    "times": (("files",), [], (None, (), "all parts are equal; the package's times differ")),
    "compression": (
        ("files",), [], (None, (), "all parts are equal; the package's compression differ"),
    ),
}  # fmt: skip
"""For each mood: the parts that differ, the first fields, and of the file: the first byte, the
parts of the package, the note."""


@on_trio
async def test_what_does_not_do_the_same_twice_is_located(opened: Opened, tmp_path: Path) -> None:
    """Each such call among others is named, with the field or the part of the file that differs."""
    steady = [("write_note", {"path": f"{n}.txt", "content": f"note {n}"}) for n in range(3)]
    moody = [("moody", {"kind": kind, "path": f"{kind}.bin"}) for kind in EXPECTED]
    async with opened(turns(asks(*steady, *moody, *steady))) as rig:
        rig.catalog = catalog_of(Moody())
        await rig.go()
        found = await proved(rig, tmp_path / "scratch", catalog=catalog_of(Moody(1)))

    assert (found.calls, found.equal) == (16, 6)
    located = dict(zip(EXPECTED, found.divergences, strict=True))
    for place, (kind, divergence) in enumerate(located.items(), 3):
        what, fields, file = EXPECTED[kind]
        assert (divergence.tool, divergence.call_id, divergence.item) == ("moody", f"c{place}", 1)
        assert divergence.seq == next(s for s, e in rig.records() if _ends(e.data, f"c{place}"))
        assert divergence.what == what
        assert [each.path for each in divergence.fields][: len(fields)] == fields
        if file is not None:
            (diff,) = divergence.files
            offset, parts, note = file
            assert tuple(part.part for part in diff.parts) == parts
            assert diff.note == note
            assert diff.offset >= 0
            assert offset in (None, diff.offset)


def _ends(data: object, call_id: str) -> bool:
    return isinstance(data, ToolReturned) and data.call_id == call_id


def test_every_mood_is_looked_at() -> None:
    """No kind of nondeterminism of the tool is left out of the table, but the one that is none."""
    assert {*KINDS} - {*EXPECTED} == {"measured"}


@on_asyncio
async def test_what_only_measures_is_taken_from_the_log(opened: Opened, tmp_path: Path) -> None:
    """How long a call took never diverges, neither in the result nor in its receipt."""
    async with opened(turns(call("moody", kind="measured"))) as rig:
        rig.catalog = catalog_of(Moody())
        await rig.go()
        found = await proved(rig, tmp_path / "scratch", catalog=catalog_of(Moody(123_456)))

    assert any('"receipt":true' in e.shown for e in rig.events() if isinstance(e, ToolReturned))
    assert (found.calls, found.equal) == (1, 1)


@on_trio
async def test_what_ended_by_time_is_not_done_again(opened: Opened, tmp_path: Path) -> None:
    """It is skipped with its reason; the calls around it are proved."""
    script = turns(asks(("slow", {}), ("write_note", {"path": "a", "content": "b"})))
    async with opened(script, limits=RunLimits(tool_s=0.02)) as rig:
        rig.catalog = catalog_of(Slow())
        await rig.go()
        found = await proved(rig, tmp_path / "scratch")

    (skipped,) = found.skipped
    assert (skipped.tool, skipped.call_id) == ("slow", "c0")
    assert "TOOL_TIMEOUT" in skipped.reason
    assert (found.calls, found.equal) == (1, 1)


class Interrupted(Moody):
    """Writes a file that somebody else changes meanwhile."""

    name = "interrupted"

    def __init__(self, rig: Rig) -> None:
        super().__init__()
        self._rig = rig

    async def run(self, context: ToolContext, arguments: Kind) -> ToolResult:
        """Do what the kind says, too late."""
        change = FileChanged(FileName(arguments.path), None, BlobHash("a" * 64), 1)
        await self._rig.keeper.submit(RecordFacts((DraftOpened("theirs"), change)))
        return await super().run(context, arguments)


@on_asyncio
async def test_what_another_change_came_before_is_not_done_again(
    opened: Opened, tmp_path: Path
) -> None:
    """The conflict was found when the call landed, so that doing it again would not meet it."""
    async with opened(turns(call("interrupted", kind="bytes"))) as rig:
        rig.catalog = catalog_of(Interrupted(rig))
        await rig.go()
        found = await proved(rig, tmp_path / "scratch")

    (skipped,) = found.skipped
    assert "changed by somebody else" in skipped.reason
    assert found.calls == 0


@on_trio
async def test_another_tool_is_another_outcome(opened: Opened, tmp_path: Path) -> None:
    """A tool that is not installed any more, or may do less now, is told as such; and a limit."""
    script = turns(asks(*[("moody", {"kind": "field"})] * 3))
    async with opened(script) as rig:
        rig.catalog = catalog_of(Moody())
        await rig.go()
        gone = await proved(rig, tmp_path / "gone", catalog=catalog_of(Rows()))
        less = await proved(rig, tmp_path / "less", limits=RunLimits(calls_a_turn=2))

    assert [d.what for d in gone.divergences] == [("outcome",)] * 3
    assert _field_of(gone.divergences[0], "outcome") == ('"done"', '"refused"')
    assert "there is no tool 'moody'" in _field_of(gone.divergences[0], "shown")[1]
    assert [d.call_id for d in less.divergences] == ["c2"]
    assert "one turn may make 2 calls" in _field_of(less.divergences[0], "shown")[1]


def _field_of(divergence: Divergence, path: str) -> tuple[str, str]:
    return next((f.recorded, f.replayed) for f in divergence.fields if f.path == path)


@on_asyncio
async def test_plugins_stand_beside_what_was_recorded(opened: Opened, tmp_path: Path) -> None:
    """Who reads the answer sees at once that another version is installed."""
    async with opened(two_items) as rig:
        await rig.go()
        same = await proved(rig, tmp_path / "same")
        other = await proved(
            rig, tmp_path / "other",
            catalog=catalog_of(ReadFile(), Rows(), RecallResult(), Broken()),
        )  # fmt: skip

    (plugin,) = same.plugins
    assert (plugin.package, plugin.version) == ("agent_test_tools", plugin.recorded_version)
    assert plugin.sha256 == plugin.recorded_sha256 != ""
    (plugin,) = other.plugins
    assert (plugin.recorded_sha256, plugin.version, plugin.sha256) == (
        same.plugins[0].sha256,
        "",
        "",
    )
    assert other.divergences == ()


def mumbles(request: ModelRequest) -> ModelReply:
    """A model that once asks for something that cannot be read as a call."""
    if request.phase is Phase.RESEARCH and said(request) == 0:
        return ModelReply(tool_calls=(ToolCall(CallId("c0"), UNREADABLE, fault="no JSON: {rows"),))
    return say("- [ ] 1. one") if request.phase is Phase.PLAN else say("done")


@on_asyncio
async def test_a_call_that_could_not_be_read_is_refused_alike(
    opened: Opened, tmp_path: Path
) -> None:
    """A proof refuses it with the words of the run, not as a tool that is not there."""
    async with opened(mumbles) as rig:
        await rig.go()
        found = await proved(rig, tmp_path / "scratch")

    (refused,) = (event for event in rig.events() if isinstance(event, ToolRefused))
    assert refused.code == "VALIDATION_FAILED"
    assert found.divergences == ()
    assert found.refusals == found.equal == 1


@on_trio
async def test_a_run_is_proved_before_damage_and_refused_behind_it(
    opened: Opened, tmp_path: Path
) -> None:
    """Damage behind a run's end is no matter to it; damage within it is told, not passed over."""
    async with opened(two_items) as rig:
        await rig.go()
        end = rig.keeper.journal.log.seq
        await rig.keeper.submit(RecordFacts((DraftOpened("later"),)))
        await anyio.lowlevel.checkpoint()
    (segment,) = (rig.folder / "log").glob("*.kbl")
    whole = segment.read_bytes().rstrip(b"\0")
    segment.write_bytes(whole[:-8] + b"\xff" * 8)
    behind = await proved(rig, tmp_path / "behind")

    assert (behind.calls, behind.equal) == (5, 5)
    assert end > 20
    half = bytearray(whole)
    half[len(whole) // 2] ^= 0xFF
    segment.write_bytes(half)
    with pytest.raises(LogCorrupt):
        await proved(rig, tmp_path / "within")


@on_asyncio
async def test_a_run_that_is_not_there_is_not_found(opened: Opened, tmp_path: Path) -> None:
    """Nothing is proved of it."""
    async with opened(two_items) as rig:
        await rig.go()
        with pytest.raises(NotFound, match="no run 2"):
            await proved(rig, tmp_path / "scratch", run=2)


async def test_a_proof_can_be_cancelled(opened: Opened, tmp_path: Path) -> None:
    """The thread that reads the log ends with it, and no error of its own comes out."""
    script = turns(asks(*[("write_note", {"path": f"{n}", "content": "x"}) for n in range(20)]))
    async with opened(script) as rig:
        await rig.go()
        rig.catalog = catalog_of(Slow(), Moody())
        with anyio.move_on_after(0.05) as scope:
            await proved(rig, tmp_path / "scratch", catalog=catalog_of(_Forever()))

    assert scope.cancelled_caught


class _Forever(WriteNote):
    """Never ends, under the name of a tool that was called."""

    async def run(self, context: ToolContext, arguments: Note) -> ToolResult:
        """Do nothing, for ever."""
        await anyio.sleep_forever()
        raise AssertionError
