"""Known keys in what is kept: gone wherever somebody said them, untouched where they name files."""

import base64
import json
from pathlib import Path

import anyio
import msgspec
import pytest

from kbd.core.domain.commands import Command, RecordFacts
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.outbound_call import RedactedStream, redact_reply
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.secrets import Secrets
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.store.redaction import Redaction
from kbd.core.workbench.file_store import Blobs
from kbd.events.base import ReplyCall
from kbd.events.blobs import BlobStore
from kbd.events.drafts import FileChanged
from kbd.events.log import EventLog
from kbd.events.runs import ModelFailed, ModelReplied, ModelRequested, PlanWritten
from kbd.events.vocabulary import Event
from kbd.events.workbenches import FileAdded, UserMessageAdded
from kbd.messages import Decline, ToolCall
from kbd.providers import ModelReply
from kbd.types import BlobHash, CallId, FileName

KEY = "sk-canary/+0123456789"
HASH = BlobHash("0" * 64)


@pytest.fixture
def redaction(tmp_path: Path) -> Redaction:
    """A daemon's that knows one key."""
    return Redaction(Secrets(Home(tmp_path, tmp_path / "s"), {"OPENAI_API_KEY": KEY}))


@pytest.mark.parametrize(
    "event",
    [
        UserMessageAdded("u1", f"use {KEY} please"),
        ModelReplied(f"it is {KEY}", (ReplyCall(CallId(KEY), KEY, f'{{"a": "{KEY}"}}'),)),
        ModelFailed("PROVIDER_UNAVAILABLE", f"no such key: {KEY}", partial=KEY),
        PlanWritten(KEY, ("one", f"two {KEY}"), KEY),
    ],
)
def test_an_event_holds_no_key(event: Event, redaction: Redaction) -> None:
    """In no field of it, however deep; the rest is as it was."""
    cleaned_event = redaction.event(event)

    text = msgspec.json.encode(cleaned_event).decode()
    assert KEY not in text
    assert text == msgspec.json.encode(event).decode().replace(KEY, "***")


@pytest.mark.parametrize(
    "event",
    [
        FileAdded(FileName(f"{KEY}.txt"), HASH, 3),
        FileChanged(FileName(KEY), None, HASH, 3),
        ModelRequested(f"openai:{KEY}", 1, HASH),
        FileAdded(FileName("a"), HASH, 3, source_path=f"/home/me/{KEY}/a"),
        UserMessageAdded("u1", "\ud800 no Unicode, which the log refuses"),
        UserMessageAdded("u1", "nothing secret"),
    ],
)
def test_names_stay_and_what_holds_none_is_the_same(event: Event, redaction: Redaction) -> None:
    """A file is found under its name, a model under its id."""
    assert redaction.event(event) == event


@pytest.mark.parametrize("key", ["ollama", "lm-studio", "Not-Needed"])
def test_without_keys_nothing_is_looked_at(tmp_path: Path, key: str) -> None:
    """What is too short for a key, or stands for none, is a word like others."""
    blank = Redaction(Secrets(Home(tmp_path, tmp_path / "s"), {"OPENAI_API_KEY": key}))
    event = UserMessageAdded("u1", f"how to set {key} up")

    assert not blank.has_keys
    assert blank.event(event) is event
    assert blank.data(key.encode()) == key.encode()


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_key_within_base64_is_found(before: str, redaction: Redaction) -> None:
    """Wherever it begins, as in a header of a name and a password."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        hidden = encode(f"{before}{KEY}:rest".encode()).decode()
        found = redaction.text(f"Basic {hidden} end")

        assert "***" in found
        assert hidden not in found
        # What is left is what stood beside it: at most a character on either side is shared.
        assert len(found) <= len("Basic *** end") + len(hidden) - len(KEY) * 8 // 6 + 1


@pytest.mark.parametrize("written", [KEY.replace("/", "\\/"), KEY.replace("-", "\\u002d")])
def test_a_key_that_json_escapes_is_found(written: str, redaction: Redaction) -> None:
    """A tool would be given the key itself, so its arguments are looked at as it sees them."""
    call = ToolCall(CallId("c"), "t", f'{{"a": "{written}"}}')
    assert json.loads(call.arguments) == {"a": KEY}

    (clean,) = redact_reply(ModelReply(tool_calls=(call,)), redaction).tool_calls
    assert json.loads(clean.arguments) == {"a": "***"}


def test_a_key_in_a_refusal_is_not_passed_on(redaction: Redaction) -> None:
    """It is recorded and shown as the text of the reply is."""
    refusal = Decline(f"why {KEY}", f"read {KEY}", (f"ask {KEY}",))

    clean = redact_reply(ModelReply(refusal=refusal), redaction).refusal
    assert clean == Decline("why ***", "read ***", ("ask ***",))


def test_a_key_that_streams_in_pieces_is_not_passed_on(redaction: Redaction) -> None:
    """However it is split; what only begins like one comes with the next piece, or at the end."""
    text = f"a sk-ca b {KEY} c sk-canary"
    for size in (1, 2, 3, 7, len(KEY), 100):
        told: list[str] = []
        telling = RedactedStream(redaction, told.append)
        for start in range(0, len(text), size):
            telling(text[start : start + size])
        telling.finish()

        assert "".join(told) == "a sk-ca b *** c sk-canary"


def test_keys_that_begin_or_end_with_one_another_stream_in_pieces(tmp_path: Path) -> None:
    """The longer one is waited for, and one that ends as it begins is not cut in two."""
    first, longer, ends_as_it_begins = "sk-canary1", "sk-canary1-long-sk-", "ababab1abab"
    keys = {"A_API_KEY": first, "B_API_KEY": longer, "C_API_KEY": ends_as_it_begins}
    redaction = Redaction(Secrets(Home(tmp_path, tmp_path / "s"), keys))
    text = f"x {first} y {longer}canary1 abab{ends_as_it_begins}ab1abab abab {first}-lo"
    for size in range(1, 30):
        told: list[str] = []
        telling = RedactedStream(redaction, told.append)
        for start in range(0, len(text), size):
            telling(text[start : start + size])
        telling.finish()
        said = "".join(told)

        assert not any(key in said for key in keys.values())
        assert said.startswith("x *** y ***")
        assert said.endswith(" abab ***-lo")


def test_what_is_put_as_said_holds_no_key(tmp_path: Path, redaction: Redaction) -> None:
    """Openings, arguments and results are cleaned; a file of a person is kept to the byte."""
    store = BlobStore(tmp_path / "blobs")
    blobs = Blobs(store, redaction.data)
    mine = tmp_path / "mine.txt"
    mine.write_text(f"my key: {KEY}")

    async def put() -> tuple[BlobHash, BlobHash]:
        return await blobs.put(f"said {KEY}".encode()), (await blobs.put_file(mine))[0]

    said, kept = anyio.run(put)
    assert store.read(said) == b"said ***"
    assert store.read(kept) == mine.read_bytes()


@pytest.mark.anyio
async def test_the_log_and_the_state_hold_none(tmp_path: Path, redaction: Redaction) -> None:
    """The Keeper cleans before it folds and appends: log, state, observers, answer."""
    keeper: Keeper[WorkbenchState, Command] = Keeper(
        Journal(EventLog.open(tmp_path / "log")),
        blank=WorkbenchState,
        fold=fold_workbench,
        decide=decide,
        clock=SystemClock(),
        redact=redaction.event,
    )
    told: list[str] = []
    keeper.observe(lambda _, record: told.append(repr(record)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        outcome = await keeper.submit(RecordFacts((UserMessageAdded("u1", KEY),)))
        tasks.cancel_scope.cancel()
    await keeper.journal.aclose()

    raw = b"".join(path.read_bytes() for path in (tmp_path / "log").iterdir())
    assert b"***" in raw
    assert KEY.encode() not in raw
    assert keeper.state.said[0].text == "***"
    assert KEY not in f"{outcome} {told}"
