"""Tool calls of a model that does what it likes."""

import msgspec
import pytest

from agent_rig import Opened, Rig, call, said, say, two_items
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.events.drafts import FileChanged
from kbd.events.runs import ModelReplied, ToolCalled, ToolRefused, ToolReturned
from kbd.messages import UNREADABLE, ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.types import CallId, Phase

pytestmark = pytest.mark.anyio


def asking(*calls: ToolCall) -> ModelReply:
    """A reply that asks for calls."""
    return ModelReply(tool_calls=calls)


def raw(tool: str, arguments: str, call_id: str = "c") -> ToolCall:
    """A call with arguments as they are."""
    return ToolCall(CallId(call_id), tool, arguments)


def first_in(phase: Phase, reply: ModelReply) -> object:
    """A model that begins a phase with a reply and then does its work."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is phase and said(request) == 0:
            return reply
        if request.phase is phase:
            return say("- [ ] 1. one" if phase is Phase.PLAN else "went on")
        return two_items(request)

    return play


async def begun(opened: Opened, phase: Phase, reply: ModelReply, **more: object) -> Rig:
    """Run a model that begins a phase so, and return what came of it."""
    async with opened(first_in(phase, reply), **more) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED
        return rig


def refused(rig: Rig) -> list[tuple[str, str]]:
    """The refusals: tool and code."""
    return [(e.tool, e.code) for e in rig.events() if isinstance(e, ToolRefused)]


@pytest.mark.parametrize("phase", [Phase.RESEARCH, Phase.PLAN])
async def test_a_write_outside_implement_is_refused(opened: Opened, phase: Phase) -> None:
    """It is recorded, the model is told, nothing is written, the phase goes on."""
    rig = await begun(opened, phase, call("write_note", path="x.txt", content="no"))

    assert refused(rig) == [("write_note", "VALIDATION_FAILED")]
    told = next(r for r in rig.requests if r.phase is phase and said(r) == 1).messages[-1].text
    assert told.startswith("Error: VALIDATION_FAILED: write_note cannot be called in the")
    assert rig.content("x.txt") is None
    assert "write x.txt" not in rig.made


async def test_an_unknown_tool_is_answered_with_near_names(opened: Opened) -> None:
    """The loop goes on."""
    rig = await begun(opened, Phase.RESEARCH, call("read_fil", path="a"))

    assert refused(rig) == [("read_fil", "NOT_FOUND")]
    told = next(e.shown for e in rig.events() if isinstance(e, ToolRefused))
    assert "did you mean read_file" in told


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ("[" * 100_000, "not valid JSON"),
        ('{"path": 3}', "path: expected `str`, got `int`"),
        ("{}", "path"),
        ("", "path"),
        ('{"path": "a", "extra": 1}', "extra"),
    ],
    ids=["cut", "list", "text", "deep", "type", "missing", "none", "unknown"],
)
async def test_arguments_that_do_not_fit_are_refused_in_words(
    opened: Opened, arguments: str, told: str
) -> None:
    """What goes back to the model is valid JSON; what it wrote is kept as a blob."""
    rig = await begun(opened, Phase.RESEARCH, asking(raw("read_file", arguments)))

    assert refused(rig) == [("read_file", "VALIDATION_FAILED")]
    shown = next(e.shown for e in rig.events() if isinstance(e, ToolRefused))
    assert told in shown
    sent = next(r for r in rig.requests if said(r) == 1).messages[2].tool_calls[0].arguments
    assert isinstance(msgspec.json.decode(sent), dict)
    call = next(e for e in rig.events() if isinstance(e, ModelReplied)).calls[0]
    if call.fault is not None:
        assert call.blob is not None
        assert await rig.blobs.read(call.blob) == arguments.encode()


@pytest.mark.parametrize("tool", ["read_file", UNREADABLE])
async def test_what_a_provider_could_not_read_is_refused_in_its_words(
    opened: Opened, tool: str
) -> None:
    """Whatever the arguments are; also of a call that does not tell which tool it is for."""
    unread = ToolCall(CallId("c"), tool, '{"path": "a"}', "write it again")
    rig = await begun(opened, Phase.RESEARCH, asking(unread))

    assert refused(rig) == [(tool, "VALIDATION_FAILED")]
    told = next(e.shown for e in rig.events() if isinstance(e, ToolRefused))
    assert told == "Error: VALIDATION_FAILED: write it again"
    kept = next(e for e in rig.events() if isinstance(e, ModelReplied)).calls[0]
    assert kept.blob is not None
    assert await rig.blobs.read(kept.blob) == b'{"path": "a"}'


async def test_ten_megabytes_of_arguments_are_refused(opened: Opened) -> None:
    """They are neither kept nor sent back."""
    arguments = '{"path": "x", "content": "' + "x" * 10_000_000 + '"}'

    rig = await begun(opened, Phase.IMPLEMENT, asking(raw("write_note", arguments)))

    assert ("write_note", "VALIDATION_FAILED") in refused(rig)
    assert rig.content("x") is None
    assert all(len(m.text) < 10_000 for r in rig.requests for m in r.messages)


async def test_long_valid_arguments_run_from_a_blob(opened: Opened) -> None:
    """Beyond 64 KiB they are not in the log, and the call gets them whole."""
    content = "x" * 100_000

    rig = await begun(opened, Phase.IMPLEMENT, call("write_note", path="long.txt", content=content))

    assert rig.content("long.txt") == content
    kept = [c for e in rig.events() if isinstance(e, ModelReplied) for c in e.calls if c.blob]
    assert [(c.arguments, c.fault) for c in kept] == [("", None), ("", None)]


async def test_sixty_calls_in_a_turn_are_all_answered(opened: Opened) -> None:
    """Fifty run in order; the rest are told to come again."""
    calls = [raw("rows", f'{{"rows": {n}}}') for n in range(60)]

    rig = await begun(opened, Phase.RESEARCH, asking(*calls))

    assert len(refused(rig)) == 10
    ran = [e.call_id for e in rig.events() if isinstance(e, ToolReturned)][:50]
    asked = next(e for e in rig.events() if isinstance(e, ModelReplied)).calls
    assert ran == [c.id for c in asked[:50]]
    assert len({c.id for c in asked}) == 60
    answers = next(r for r in rig.requests if said(r) == 1).messages[3:]
    assert [m.tool_call_id for m in answers] == [c.id for c in asked]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "meta/x", "a\0b"])
async def test_a_path_out_of_the_workbench_is_an_error_result(opened: Opened, path: str) -> None:
    """The model is told; nothing is written anywhere."""
    rig = await begun(opened, Phase.IMPLEMENT, call("write_note", path=path, content="x"))

    failed = [e for e in rig.events() if isinstance(e, ToolReturned) and not e.ok]
    assert {e.error_code for e in failed} == {"SANDBOX_VIOLATION"}
    assert not [e for e in rig.events() if isinstance(e, FileChanged)]


async def test_a_tool_that_breaks_is_told_without_its_inside(opened: Opened) -> None:
    """Its half-written file does not land, and no path or traceback is shown."""
    rig = await begun(opened, Phase.IMPLEMENT, call("broken"))

    failed = next(e for e in rig.events() if isinstance(e, ToolReturned) and not e.ok)
    assert failed.shown == "Error: FILE_WRITE_FAILED: broken failed inside (KeyError)"
    assert rig.content("half.txt") is None
    assert list((rig.folder / "stage").iterdir()) == []


async def test_a_tool_that_takes_too_long_is_ended(opened: Opened) -> None:
    """After its seconds it is cancelled and the model is told."""
    rig = await begun(opened, Phase.RESEARCH, call("slow"), limits=RunLimits(tool_s=0.05))

    failed = next(e for e in rig.events() if isinstance(e, ToolReturned) and not e.ok)
    assert failed.error_code == "TOOL_TIMEOUT"


async def test_a_large_result_is_a_receipt_and_can_be_recalled(opened: Opened) -> None:
    """The log has it all, as a blob beyond 64 KiB, and recalling shows it."""

    def play(request: ModelRequest) -> ModelReply:
        match request.phase, said(request):
            case Phase.RESEARCH, 0:
                return call("rows", rows=5000)
            case Phase.RESEARCH, 1:
                return call("rows", rows=300)
            case Phase.RESEARCH, 2:
                return call("recall_tool_result", entry_id=2)
            case _:
                return two_items(request)

    async with opened(play) as rig:
        await rig.go()
        large, middle, recalled, *_ = [e for e in rig.events() if isinstance(e, ToolReturned)]

        assert large.blob is not None
        assert large.result == ""
        assert msgspec.json.decode(large.shown)["contents"].startswith("5000 rows, 25000 total")
        assert len(await rig.blobs.read(large.blob)) == large.size_bytes
        assert middle.blob is None
        assert msgspec.json.decode(recalled.shown)["text"] == middle.result


async def test_what_a_call_wrote_lands_with_its_result(opened: Opened) -> None:
    """The change and the result are one frame, and the entry number counts on."""
    async with opened(two_items) as rig:
        await rig.go()
        records = rig.records()

        wrote = [n for n, (_, r) in enumerate(records) if isinstance(r.data, FileChanged)]
        firsts = {first for first, _ in rig.keeper.journal.log.frames()}
        for place in wrote:
            seq, returned = records[place + 1]
            assert isinstance(returned.data, ToolReturned)
            assert seq not in firsts
        entries = [r.data.entry_id for _, r in records if isinstance(r.data, ToolCalled)]
        assert entries == [1, 2, 3, 4, 5]
