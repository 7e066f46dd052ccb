"""The verifier's own reader of logs agrees with kbd's, on whole logs and on harmed ones."""

import io
import random
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from cased import case_bytes, contents, forged, small, workbench
from events.harm import Victim
from events.harm import forged as rewritten
from events.logs import note
from kbd.core.audit.case_file import CaseContents, MemberSource
from kbd.core.audit.verify.case import check
from kbd.core.audit.verify.history import Broken, History, Part, blobs_of, read_history
from kbd.core.audit.verify.packed import unpacked
from kbd.errors import LogCorrupt
from kbd.events import VERSIONS, codec
from kbd.events.anchor import ANCHOR_NAME
from kbd.events.base import Recorded
from kbd.events.log_copy import copy_log, find_extent
from kbd.events.scan import read_log
from kbd.events.verification import verify_log
from kbd.events.vocabulary import named_blobs, note_named
from kbd.types import BlobHash, Seq
from logs.make_golden import ADDED, CURRENT, EVENTS

EXAMPLES = (*EVENTS, *(event for commit in ADDED for event in commit))


def history_of(folder: Path) -> History:
    """Read a log's directory with the verifier's reader."""
    with ExitStack() as stack:
        parts = {}
        for path in folder.iterdir():
            if path.suffix == ".kbl" or path.name == ANCHOR_NAME:
                file = stack.enter_context(path.open("rb"))
                parts[path.name] = Part(file, 0, path.stat().st_size)
        return read_history(parts)


def test_both_read_the_same_of_a_whole_log(tmp_path: Path) -> None:
    """Of the golden log, with an event of every type: events, frames, head and named blobs."""
    copy_log(CURRENT, find_extent(CURRENT, None), tmp_path)
    ours, theirs = verify_log(tmp_path), history_of(tmp_path)
    named: dict[BlobHash, int] = {}

    def take(seq: Seq, record: Recorded) -> None:
        note_named(named, record.data, seq)

    read_log(tmp_path, take)
    assert ours.is_whole
    assert named
    assert (theirs.seq, theirs.head, theirs.frames) == (ours.seq, ours.head, ours.frames)
    assert theirs.blobs == named


@pytest.mark.parametrize("kind", sorted(VERSIONS, key=str), ids=lambda kind: kind.__name__)
def test_both_name_the_same_blobs_of_every_event(kind: type) -> None:
    """A field that names a blob is known to the verifier, too, by its place in the stored event."""
    examples = [event for event in EXAMPLES if type(event) is kind]
    assert examples
    for event in examples:
        body = codec.encode([codec.wrap_event(event, 1)])
        ((name, _, data, *_),) = unpacked(body)
        assert sorted(blobs_of(name, data)) == sorted(named_blobs(event))


def test_both_read_the_same_values() -> None:
    """Every kind of value that msgpack has for what logs hold comes out alike."""
    numbers = [
        0,
        1,
        127,
        128,
        255,
        256,
        65535,
        65536,
        1 << 40,
        -1,
        -32,
        -33,
        -129,
        -40000,
        -1 << 40,
    ]
    values = [
        *numbers, 0.5, None, True, False, "", "é" * 20, "x" * 300, "y" * 70_000, b"", b"z" * 300,
        [], list(range(20)), [0] * 65_536, {}, {str(n): n for n in range(20)},
        [{"deep": [[{"er": 1}]]}],
    ]  # fmt: skip
    for value in values:
        assert unpacked(msgspec.msgpack.encode(value)) == value


def test_no_bytes_make_the_reader_stumble() -> None:
    """Random bytes, cut values, lies about lengths and towers are refused, or are a value."""
    dice = random.Random(7)
    towers = [b"\x91" * 100_000, b"\x81\xa1a" * 100_000, b"\xdd" + b"\xff" * 4, b"\xc1"]
    for data in [*towers, *(dice.randbytes(dice.randrange(40)) for _ in range(2000))]:
        try:
            unpacked(data)
        except ValueError:
            continue


def test_both_refuse_the_same_flips(tmp_path: Path) -> None:
    """Whatever byte of a log is flipped, both name the same file, and the same place in it."""
    victim = Victim(tmp_path, commits=8, segment_bytes=300)
    victim.files |= victim.anchor_at(len(victim.frames))
    dice = random.Random(11)
    places = [(name, at) for name in victim.segments for at in range(len(victim.files[name]))]
    for name, at in dice.sample(places, 30):
        data = bytearray(victim.files[name])
        data[at] ^= 1 << dice.randrange(8)
        ours = victim.checked({name: bytes(data)}).fault
        assert ours is not None
        with pytest.raises(Broken) as theirs:
            history_of(victim.lay({name: bytes(data)}))
        assert (theirs.value.name, theirs.value.offset) == (ours.file, ours.offset), (name, at)


def test_both_refuse_the_same_edits(tmp_path: Path) -> None:
    """Frames and segments that are cut, swapped, doubled or written anew."""
    victim = Victim(tmp_path, commits=8, segment_bytes=300)
    victim.files |= victim.anchor_at(len(victim.frames))
    first, second, third, *_ = victim.segments
    inner = next(n for n, each in enumerate(victim.frames[1:-1], 1) if each.at > 64)
    frame = victim.frames[inner]
    whole = victim.files[first]
    for harm in (
        victim.without(frame),
        victim.without(victim.frames[-1]),
        victim.replaced(frame, rewritten(victim, inner, [note("x"), note("y")]).data),
        victim.replaced(frame, rewritten(victim, inner, [note("x")]).data),
        {first: whole[:-3]},
        {second: b""},
        {second: victim.files[third]},
        {first: whole + whole[64:]},
        {ANCHOR_NAME: b""},
    ):
        assert victim.checked(harm).fault is not None
        with pytest.raises(Broken):
            history_of(victim.lay(harm))


def evil(found: CaseContents, harm: str) -> CaseContents:
    """A case that fits together and does not tell the truth."""
    blobs = [source for source in found.sources if source.name.startswith("blobs/")]
    kept = [source for source in found.sources if source is not blobs[0]]
    match harm:
        case "a blob is missing":
            return forged(found, kept)
        case "a blob is another":
            return forged(found, [*kept, MemberSource(blobs[0].name, 5, b"other")])
        case "a blob too many":
            return forged(found, [*found.sources, MemberSource("blobs/" + "0" * 64, 5, b"other")])
        case "another head":
            return forged(found, list(found.sources), head="0" * 64)
        case "another run":
            return forged(found, list(found.sources), run="00112233445566ff-2")
        case _:
            raise AssertionError(harm)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("a blob is missing", "names, is missing"),
        ("a blob is another", "does not hold what its name says"),
        ("a blob too many", "no event names this blob"),
        ("another head", "names another end of the log"),
        ("another run", "nothing of the run that it names"),
    ],
)
def test_a_case_that_fits_together_is_held_to_its_log(
    tmp_path: Path, harm: str, words: str
) -> None:
    """Whoever writes all hashes anew is still bound by the log."""
    found = small(workbench(tmp_path / "bench"))
    data = case_bytes(tmp_path, evil(found, harm))
    (fault,) = check(io.BytesIO(data)).faults
    assert words in fault.reason


@pytest.mark.parametrize("part", ["log", "blob", "missing"])
def test_what_is_damaged_is_not_exported(tmp_path: Path, part: str) -> None:
    """Evidence must not look whole: the refusal names the file and the place."""
    folders = workbench(tmp_path / "bench")
    log = folders.log / "00000000000000000001.kbl"
    blob = next(folders.blobs.glob("*"))
    if part == "log":
        data = bytearray(log.read_bytes())
        data[300] ^= 1
        log.write_bytes(data)
    else:
        blob.unlink()
        if part == "blob":
            blob.write_bytes(b"other")
    with pytest.raises(LogCorrupt) as refused:
        contents(folders)
    assert refused.value.detail["file"] == (log.name if part == "log" else blob.name)
    assert isinstance(refused.value.detail["offset"], int)
