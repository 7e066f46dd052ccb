"""Case file of a run: the log up to the run's end, all blobs that it names, report and readme.

The file brings its own verifier: the sources of `verify`, and `__main__.py`, which starts them.
`__main__.py` is the first member, the modules follow: their places hang on nothing but themselves,
so it finds them although headers or directory are damaged. For `kbd verify` the same modules are
run here.

Members are written as they are, in a fixed order, so equal cases have equal bytes. Everything is
read twice: first for the hashes, which the headers and the manifest need, then to be written. What
has changed in between is refused.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from kbd import __version__
from kbd.core.audit.page.document import page_of
from kbd.core.audit.page.run_index import blobs_of
from kbd.core.audit.steps import Numbered, fold_steps
from kbd.core.audit.verify import SOURCES
from kbd.core.audit.verify.case import Fault, check
from kbd.core.audit.verify.layout import Seal, header_of, regions, seal_bytes
from kbd.core.audit.verify.manifest import MANIFEST, PIECE_BYTES, Case, Member, manifest_of, order
from kbd.core.audit.whole_paths import create_partial
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.state_text import collection_text
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.store.blob_marks import read_collected
from kbd.core.workbench.rows import run_info
from kbd.errors import FileReadFailed, LogCorrupt, NotFound
from kbd.events.anchor import ANCHOR_NAME, Anchor, anchor_bytes
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.events.codec import decode
from kbd.events.frame import BODY_AT
from kbd.events.log_copy import Extent, find_extent
from kbd.events.scan import survey_log
from kbd.events.segment import Block, Segment
from kbd.events.shortages import raise_shortage
from kbd.events.vocabulary import note_named
from kbd.requests.daemon import LogFault
from kbd.types import BlobHash, Seq

__all__ = [
    "CaseContents",
    "CaseRequest",
    "CheckResult",
    "ExportedCase",
    "MemberSource",
    "WrittenCase",
    "check_case",
    "export_case",
    "gather_contents",
    "hash_member",
    "render_readme",
    "sorted_members",
    "verifier_files",
    "write_case",
]


_CHUNK_BYTES = 16 * PIECE_BYTES


class MemberSource(msgspec.Struct, frozen=True):
    """Source of a member's bytes: they are given, or at the beginning of a file.

    Args:
        name: The member's.
        size_bytes: How many there are.
        data: The bytes, where there is no file.
        path: The file.
    """

    name: str
    size_bytes: int
    data: bytes = b""
    path: Path | None = None

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in order.

        Raises:
            FileReadFailed: There are fewer.
            OSError: They cannot be read.
        """
        if self.path is None:
            for start in range(0, self.size_bytes, _CHUNK_BYTES):
                yield self.data[start : start + _CHUNK_BYTES]
            return
        # The log may grow under us: only what was durable when the extent was found is read.
        left = self.size_bytes
        with self.path.open("rb", buffering=0) as file:
            while left:
                data = file.read(min(left, _CHUNK_BYTES))
                if not data:
                    msg = f"{self.name} is shorter than it was"
                    raise FileReadFailed(msg)
                left -= len(data)
                yield data


class WrittenCase(msgspec.Struct, frozen=True):
    """Size of a written case file, and the hash of all its bytes."""

    size_bytes: int
    sha256: str


def hash_member(source: MemberSource) -> Member:
    """Read a source and return it as a member, with its hashes.

    Raises:
        FileReadFailed: It is shorter than it was.
        OSError: It cannot be read.
    """
    whole, checksum, pieces = hashlib.sha256(), 0, []
    for data in _split_pieces(source.chunks()):
        whole.update(data)
        checksum = zlib.crc32(data, checksum)
        pieces.append((hashlib.sha256(data).hexdigest(), zlib.crc32(data)))
    return Member(source.name, source.size_bytes, whole.hexdigest(), checksum, tuple(pieces))


def write_case(file: BinaryIO, case: Case, sources: Iterable[MemberSource]) -> WrittenCase:
    """Write a case file.

    Args:
        file: Where to, from its beginning.
        case: What the manifest is to say; its members are those of the sources, in `order`.
        sources: The members' bytes.

    Raises:
        FileReadFailed: A source changed meanwhile.
        OSError: A source cannot be read, or the file not be written.
    """
    data = manifest_of(case)
    manifest = MemberSource(MANIFEST, len(data), data)
    weighed_manifest = hash_member(manifest)
    by_name = {source.name: source for source in (*sources, manifest)}
    everything, end, start = hashlib.sha256(), 0, 0
    # Not `zipfile`, which chooses headers itself: the verifier knows what each byte must be, and
    # equal cases have equal bytes.
    for region in regions(case, weighed_manifest):
        if region.expected:
            chunks: Iterable[bytes] = (region.expected,)
        else:
            chunks = _checked_chunks(by_name[region.name], region.member)
            start = region.start if region.name == MANIFEST else start
        for chunk in chunks:
            file.write(chunk)
            everything.update(chunk)
            end += len(chunk)
    sealed = Seal(start, len(data), weighed_manifest.sha256, everything.hexdigest())
    seal = seal_bytes(sealed)
    file.write(seal)
    file.flush()
    # Durable before it gets its name (`whole_paths`).
    os.fsync(file.fileno())
    everything.update(seal)
    return WrittenCase(end + len(seal), everything.hexdigest())


def sorted_members(members: Iterable[Member]) -> tuple[Member, ...]:
    """Return members in the order of a case file."""
    return tuple(sorted(members, key=lambda member: order(member.name)))


def _checked_chunks(source: MemberSource, member: Member) -> Iterator[bytes]:
    """Yield a source's bytes, and verify their checksum at the end."""
    checksum = 0
    for chunk in source.chunks():
        checksum = zlib.crc32(chunk, checksum)
        yield chunk
    # Header and manifest were written from a first reading: what differs now would not verify.
    if checksum != member.crc32:
        msg = f"{source.name} changed while it was read"
        raise FileReadFailed(msg)


def _split_pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Split a stream of chunks into pieces of a fixed size."""
    held = b""
    for chunk in chunks:
        held += chunk
        whole = len(held) // PIECE_BYTES * PIECE_BYTES
        for start in range(0, whole, PIECE_BYTES):
            yield held[start : start + PIECE_BYTES]
        held = held[whole:]
    if held:
        yield held


_README = """\
Case file of run {run}

This file holds what kbd {version} recorded of a run in the workbench {workbench}, up to event
{seq} ({time}), and all that it rests on:

  report.html    the run as one page; open it in a browser, it needs no network
  log/           the log from its first event on, byte for byte
  blobs/         every file version, result and message that the log names, each under its sha256
  manifest.json  every member with its size, its sha256, and the sha256 of each 64 KiB of it
  __main__.py, verify/   what checks all this, in plain Python

To check it, with nothing but Python 3.8 or newer:

  python3 FILE                        every byte, the log, the file versions; 0 if it is whole
  python3 FILE --head SEQ:HASH        also compare a head of the log that was kept elsewhere
  python3 FILE --extract FOLDER       also unpack it; any program that knows zip does that, too
  python3 FILE OTHER                  check another case file with the verifier of this one
  kbd verify FILE                     the same check by an installed kbd

`python3 FILE` runs what is in the file. Do that with one of your own, or of somebody whom you
trust; check any other with `kbd verify`, or with a case file of your own.

A byte that was changed is found and its place is told. Where the damage is in __main__.py or in the
record at the very end, Python itself may refuse the file in words of its own, or find no program in
it: then check it with another case file's verifier, or with kbd.

What a check shows: no byte is another than when this file was made, each event follows from the
one before, and each file version is the one that its event names. Somebody could still write all of
it anew; against that, compare the head below with one that was kept where nobody could change it
(`kbd log WB --head` prints it at any time):

  {seq}:{head}

The log was only read to write this file, and nothing was recorded in it. Events of the workbench
after the run's last one are not in here; those of earlier runs are, for the chain begins there.
"""


_COLLECTED = """
Of what the log names, these blobs are not in here: their bytes had been removed on purpose before
this file was written, which the log says behind the run's last event.

{lines}
"""


def render_readme(case: Case) -> str:
    """Return the readme of a case."""
    lines = "\n".join(f"  {blob}\n    {text}" for blob, text in case.collected)
    collected = _COLLECTED.format(lines=lines) if lines else ""
    text = _README.format(
        run=case.run,
        version=case.kbd,
        workbench=case.workbench[0],
        seq=case.seq,
        time=case.time,
        head=case.head,
    )
    return text + collected


_PLACEHOLDER_TIME = "2000-01-01T00:00:00Z"
"""The size of a header does not hang on the time."""


def verifier_files() -> dict[str, bytes]:
    """Return the files of the verifier, by their names in a case file."""
    folder = files("kbd.core.audit.verify")
    modules = {f"verify/{name}.py": folder.joinpath(f"{name}.py").read_bytes() for name in SOURCES}
    template = folder.joinpath("main.txt").read_text("utf-8")
    # The numbers have a fixed width, so a first attempt tells how long it will be.
    draft = _render_main(template, modules, 0)
    return {"__main__.py": _render_main(template, modules, len(draft)), **modules}


def _render_main(template: str, modules: dict[str, bytes], size_bytes: int) -> bytes:
    """Return `__main__.py` for a case file in which it has so many bytes."""
    first = _header_size("__main__.py")
    start, places = first + size_bytes, {}
    for name in sorted(modules, key=order):
        start += _header_size(name)
        places[name] = start
        start += len(modules[name])
    rows = []
    for name, source in modules.items():
        digest = hashlib.sha256(source).hexdigest()
        rows.append(f'    ("{name}", {places[name]:8}, {len(source):8}, "{digest}"),')
    filled = template.replace("{modules}", "\n".join(rows))
    span = {"{first}": first, "{last}": first + size_bytes - 1}
    for mark, place in span.items():
        filled = filled.replace(mark, f"{place:8}")
    return filled.encode("ascii")


def _header_size(name: str) -> int:
    return len(header_of(Member(name, 0, "", 0, ()), _PLACEHOLDER_TIME))


_MAX_TEXT_BYTES = 8 * 1024 * 1024
"""Longer blobs are not offered to the report; it cuts texts far shorter itself."""


class CaseRequest(msgspec.Struct, frozen=True):
    """Request for a case file: which run is to be written.

    Args:
        folders: Its workbench.
        number: Its number there.
        end: The durable end of its log.
        is_active: Whether it is under way: all that is durable belongs to it.
    """

    folders: WorkbenchFolders
    number: int
    end: Anchor
    is_active: bool


class CaseContents(msgspec.Struct, frozen=True):
    """Contents of a case file: its manifest and the sources of its members.

    Args:
        case: What its manifest says.
        sources: Where the members' bytes come from.
        blobs: How many of them are blobs.
    """

    case: Case
    sources: tuple[MemberSource, ...]
    blobs: int


def gather_contents(wanted: CaseRequest) -> CaseContents:
    """Gather what goes into the case file of a run. Blocking; reads everything once.

    Raises:
        LogCorrupt: The log is damaged, be it behind the run, or a blob is missing or damaged:
            evidence must not look whole if it is not.
        NotFound: There is no such run.
        OSError: Something cannot be read.
    """
    log_dir, blobs_dir = wanted.folders.log, wanted.folders.blobs
    extent, events = _read_history(log_dir, wanted)
    state = WorkbenchState()
    blobs: dict[BlobHash, Seq] = {}
    for seq, record in events:
        fold_workbench(state, seq, record)
        # The first event that names it: of a missing blob the message tells where it came in.
        note_named(blobs, record.data, seq)
    collected = _collected_since(wanted, blobs)
    for blob in collected:
        del blobs[blob]
    named = [_read_blob(BlobStore(blobs_dir), blob, seq) for blob, seq in sorted(blobs.items())]
    time = datetime.fromtimestamp(events[-1][1].ts_us // 1_000_000, UTC)
    case = Case(
        kbd=__version__,
        run=state.run_id(wanted.number),
        workbench=(state.workbench_id, state.name),
        seq=extent.seq,
        head=extent.head.hex(),
        time=f"{time:%Y-%m-%dT%H:%M:%SZ}",
        members=(),
        collected=tuple(sorted(collected.items())),
    )
    made = {
        **verifier_files(),
        f"log/{ANCHOR_NAME}": anchor_bytes(Anchor(extent.seq, extent.head)),
        "report.html": _render_report(wanted, state, events).encode("utf-8", "replace"),
        "README.txt": render_readme(case).encode("utf-8", "replace"),
    }
    sources = [MemberSource(name, len(data), data) for name, data in made.items()]
    sources += [
        MemberSource(f"log/{name}", size, path=log_dir / name) for name, size in extent.files
    ]
    members = [hash_member(source) for source in sources] + [member for _, member in named]
    return CaseContents(
        # Only now, for the readme is made of the case and is one of its members.
        case._replace(members=sorted_members(members)),
        (*sources, *(source for source, _ in named)),
        len(named),
    )


def _collected_since(wanted: CaseRequest, blobs: Iterable[BlobHash]) -> dict[BlobHash, str]:
    """Return the blobs that were collected behind the end of the run, with when and why."""
    store = BlobStore(wanted.folders.blobs)
    notes = read_collected(wanted.folders.log, Seq(wanted.end.seq))
    return {
        blob: collection_text(notes[blob])
        for blob in blobs
        if blob in notes and store.look(blob) is None
    }


def _read_history(log_dir: Path, wanted: CaseRequest) -> tuple[Extent, list[Numbered]]:
    """Read the log up to the end of the run, with every check that it allows."""
    events: list[Numbered] = []

    def visit(segment: Segment, block: Block) -> None:
        for first, _, at, stop in block.spans():
            if first <= wanted.end.seq:
                try:
                    records = decode(block.data[at + BODY_AT : stop])
                except LogCorrupt as error:
                    error.detail |= {"file": segment.name, "offset": block.base + at, "seq": first}
                    raise
                events.extend((Seq(seq), record) for seq, record in enumerate(records, first))

    # The end that the open log knows: its anchor on disk may lag behind.
    fault = survey_log(log_dir, chained=True, visit=visit, durable=wanted.end).fault
    last = max((seq for seq, record in events if record.run == wanted.number), default=Seq(0))
    if wanted.is_active:
        last = Seq(wanted.end.seq)
    if fault is not None:
        raise fault
    if not last:
        msg = f"there is no run {wanted.folders.id}-{wanted.number}"
        raise NotFound(msg)
    extent = find_extent(log_dir, last)
    # A frame is never parted, so the extent may end behind the run's last event. Events count from
    # 1 without a gap, so this is all up to its end.
    return extent, events[: extent.seq]


def _read_blob(store: BlobStore, blob: BlobHash, seq: Seq) -> tuple[MemberSource, Member]:
    """Read a blob and verify its hash, which is its name.

    Raises:
        LogCorrupt: It is not there, or something else.
    """
    path, found = store.path(blob), "damaged"
    try:
        source = MemberSource(f"blobs/{blob}", store.size(blob), path=path)
        member = hash_member(source)
        # A blob's name is its hash, so one that rotted is found before it passes for evidence.
        if member.sha256 == blob:
            return source, member
    except (FileNotFoundError, NotFound):
        found = "missing"
    except (OSError, BlobDamaged):
        pass
    msg = f"the blob {blob}, which event {seq} names, is {found}; see `kbd verify`"
    raise LogCorrupt(msg, detail={"file": blob, "offset": 0, "seq": seq})


def _render_report(wanted: CaseRequest, state: WorkbenchState, events: list[Numbered]) -> str:
    run = state.run(wanted.number)
    steps = fold_steps(wanted.number, events)
    store = BlobStore(wanted.folders.blobs)
    texts: Mapping[BlobHash, str] = {
        blob: store.read(blob, limit=_MAX_TEXT_BYTES).decode("utf-8", "replace")
        for blob in blobs_of(steps)
    }
    asked = state.request_of(run)
    return page_of(run_info(state, run), asked.text if asked else "", steps, texts)


class ExportedCase(msgspec.Struct, frozen=True):
    """Case file that was exported.

    Args:
        size_bytes: Its size.
        seq: The last event in it.
        head: The chain value there, as hex digits.
        blobs: How many blobs are in it.
    """

    size_bytes: int
    seq: Seq
    head: str
    blobs: int


def export_case(
    wanted: CaseRequest, target: Path, before_naming: Callable[[WrittenCase], None]
) -> ExportedCase:
    """Write a case file; it is durable, and complete when it has its name. Blocking.

    Args:
        wanted: The run.
        target: Where to; nothing has the name, and the folder is there.
        before_naming: Called when it is written and before it has its name.

    Raises:
        LogCorrupt: Log or blobs are not whole.
        NotFound: There is no such run.
        FileReadFailed: Log or blobs cannot be read.
        DiskFull: No space is left; nothing of it is there.
        FileWriteFailed: It cannot be written there; the same.
        ValidationFailed: Something has the name by now.
    """
    try:
        contents = gather_contents(wanted)
    except OSError as error:
        raise_shortage(error)
        msg = f"the log of {wanted.folders.id} cannot be read: {error.strerror}"
        raise FileReadFailed(msg) from None
    with create_partial(target) as made:
        written = write_case(made.file, contents.case, contents.sources)
        # The name comes last: a watch must not see the file before kbd said that it is its own.
        before_naming(written)
        made.place()
    case = contents.case
    return ExportedCase(written.size_bytes, Seq(case.seq), case.head, contents.blobs)


class CheckResult(msgspec.Struct, frozen=True):
    """Result of a check: whether a case file or a backup is whole.

    Args:
        kind: Which it is.
        logs: How many logs it holds.
        events: How many events they hold together.
        blobs: How many file versions were compared with their hash.
        head: The chain value at the end of a case's log (64 hex digits); empty for a backup.
        faults: What is wrong; none if it is whole. The file is named as in the copy, and for a
            case the offset is a place in the case file.
    """

    kind: Literal["case", "backup"]
    logs: int
    events: int
    blobs: int
    head: str
    faults: tuple[LogFault, ...]


def check_case(path: Path) -> CheckResult:
    """Read a whole case file and compare every byte with what it must be. Blocking.

    Raises:
        NotFound: There is no such file.
        FileReadFailed: It cannot be read.
    """
    if path.exists() and not path.is_file():  # A pipe would have it wait for ever.
        msg = f"{path} is no file"
        raise FileReadFailed(msg)
    try:
        with path.open("rb") as file:
            found = check(file)
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise NotFound(msg) from None
    except OSError as error:
        raise_shortage(error)
        msg = f"{path} cannot be read: {error.strerror}"
        raise FileReadFailed(msg) from None
    history = found.history
    return CheckResult(
        kind="case",
        logs=1,
        events=history.seq if history else 0,
        blobs=found.blobs,
        head=history.head if history else "",
        faults=tuple(_log_fault(fault) for fault in found.faults),
    )


def _log_fault(fault: Fault) -> LogFault:
    last = fault.offset + fault.size - 1
    span = f" (bytes {fault.offset} to {last} of the case file)" if fault.size > 1 else ""
    return LogFault(
        kind=fault.kind,
        file=fault.name,
        offset=fault.offset,
        message=fault.reason + span,
        seq=fault.seq,
    )
