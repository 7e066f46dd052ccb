"""Readings of hostile bytes by real workers: everything that a format offers, and how it ended."""

import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import anyio
import msgspec

from format_cases import FormatCase, PackageCase
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings, WorkerLimits
from kbd.errors import KbdError
from kbd.formats import (
    Comparable,
    CompareOptions,
    Composed,
    Editable,
    Gridded,
    GridWindow,
    LaidOut,
    Mappable,
    Previewable,
    Readable,
    ReadAs,
    Receiptable,
    Region,
    Styled,
    Tabular,
)
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName
from mutations import mutant
from zipforge import forge, members

__all__ = ["CODES", "Ending", "FuzzedReads", "Fuzzing", "faults_of", "fuzz", "samples_of"]

CODES = frozenset(
    {
        "FILE_READ_FAILED",
        "FILE_WRITE_FAILED",
        "VALIDATION_FAILED",
        "NOT_FOUND",
        "TOOL_TIMEOUT",
    }
)
"""The verdicts on a file; whatever else comes is a fault of kbd."""

REAL_BYTES = 60_000
REAL_FILES = 60

_BARE = re.compile(r"failed with [A-Z]\w*(?:Error|Exception|Exit|Iteration|Interrupt)\b")
"""What is told of an exception that no reader expected."""


class Ending(msgspec.Struct, frozen=True):
    """How one reading ended.

    Args:
        deed: What was asked.
        verdict: "ok" or an error's code.
        message: The error's message.
        fault: Why this is no verdict on a file; "" where it is one.
    """

    deed: str
    verdict: str
    message: str = ""
    fault: str = ""


class FuzzedReads:
    """Reads mutants of a format in a pool.

    Args:
        case: The format.
        plugins: All plugins.
        workers: Where they run.
        folder: Where the mutants lie for the time they are read.
    """

    def __init__(
        self, case: FormatCase, plugins: Plugins, workers: WorkerPool, folder: Path
    ) -> None:
        self._case, self._folder = case, folder
        self._formats = FormatCalls(Catalog(plugins), workers)
        self._count = 0

    def put(self, name: str, data: bytes) -> FileRef:
        """Put bytes where a blob of them would lie."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._folder / digest[:2] / digest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return FileRef(FileName(name), BlobHash(digest), len(data), path)

    async def read(self, sample: FileRef, file: FileRef) -> list[Ending]:
        """Do all to a mutant that can be done, two at a time, and remove it."""
        endings: list[Ending] = []
        limiter = anyio.CapacityLimiter(2)

        async def one(deed: str, work: Callable[[], Awaitable[Any]]) -> None:
            async with limiter:
                endings.append(await self._ending(deed, work))

        async with anyio.create_task_group() as tasks:
            for deed, work in self._deeds(sample, file).items():
                tasks.start_soon(one, deed, work)
        file.path.unlink(missing_ok=True)
        return endings

    async def _ending(self, deed: str, work: Callable[[], Awaitable[Any]]) -> Ending:
        try:
            await work()
        except KbdError as error:
            fault = ""
            if error.code not in CODES:
                fault = "its code"
            elif error.retryable:
                fault = "it is called worth another try"
            elif _BARE.search(error.message):
                fault = "a bare exception"
            elif str(self._folder) in error.message or "Traceback" in error.message:
                fault = "a path or a trace"
            elif {"signal", "status", "limit"} & error.detail.keys():
                # Whatever it is made of, a small file is read, or refused before it costs much.
                fault = "the worker died"
            return Ending(deed, error.code, error.message, fault)
        return Ending(deed, "ok")

    def _readings(self, file: FileRef) -> dict[str, Callable[[], Awaitable[Any]]]:
        handler, calls = self._case.handler, self._formats
        deeds: dict[str, Callable[[], Awaitable[Any]]] = {"info": lambda: calls.info(file)}
        if isinstance(handler, Mappable):
            deeds["map"] = lambda: calls.map(file)
        if isinstance(handler, Readable):
            deeds["read"] = lambda: calls.read(file, Region())
            deeds["extract"] = lambda: calls.extract(file, Region(), 0, 0, 100_000)
        if isinstance(handler, Composed):
            deeds["objects"] = lambda: calls.objects(file, Region())
        if isinstance(handler, LaidOut):
            deeds["tables"] = lambda: calls.layout(file, Region(), "tables")
        return deeds

    def _deeds(self, sample: FileRef, file: FileRef) -> dict[str, Callable[[], Awaitable[Any]]]:
        handler, calls = self._case.handler, self._formats
        deeds = self._readings(file)
        if isinstance(handler, Comparable):
            deeds["compare"] = lambda: calls.compare(sample, file, CompareOptions())
        if isinstance(handler, Receiptable):
            deeds["receipt"] = lambda: calls.receipt_facts(file.name, (sample, file), (1,), 1000)
        if isinstance(handler, Previewable):
            deeds["preview"] = lambda: calls.preview(file, 0, 200)
        if isinstance(handler, Gridded):
            deeds["grid"] = lambda: calls.grid(file, GridWindow())
        if isinstance(handler, Styled):
            deeds["styles"] = lambda: calls.get_styles(file, None)
        if isinstance(handler, Tabular):
            deeds["table"] = lambda: calls.read_table(file, None, ReadAs(), self._target())
        if isinstance(handler, Editable):
            for place, edit in enumerate(getattr(self._case, "tried", ())):
                deeds[f"edit{place}"] = lambda edit=edit: calls.apply(  # type: ignore[misc]
                    self._case.handler, file, (edit,), self._target()
                )
        return deeds

    def _target(self) -> Path:
        """A file that a call may write, which nobody reads."""
        self._count += 1
        target = self._folder / f"target{self._count % 8}{os.getpid()}"
        target.unlink(missing_ok=True)
        return target


class Fuzzing(msgspec.Struct):
    """What became of many mutants of a format.

    Args:
        seed: What the mutants were drawn with; a mutant has a number, too.
        mutants: How many there were.
        calls: How many calls of workers ended how.
        faults: What is a fault of kbd, with the mutant's number and its sample.
    """

    seed: str
    mutants: int = 0
    calls: Counter[str] = msgspec.field(default_factory=Counter)
    faults: list[str] = msgspec.field(default_factory=list)

    def line(self, name: str) -> str:
        """Say it in a line of a table."""
        ended = ", ".join(f"{code} {count:,}" for code, count in sorted(self.calls.items()))
        return f"{name:6}{self.mutants:8,} mutants {self.calls.total():8,} calls: {ended}"


def samples_of(case: FormatCase, folder: Path, corpora: Path | None = None) -> dict[str, bytes]:
    """Return small good files of a format by name: made ones, and real ones if there are any."""
    folder.mkdir()
    made = case.samples(folder)
    found = {
        name: data if isinstance(data, bytes) else data.read_bytes() for name, data in made.items()
    }
    if isinstance(case, PackageCase):
        found[f"good{case.suffix}"] = forge(members(case.parts()))
    if corpora is not None and (corpora / case.name).is_dir():
        suffixes = {suffix.lower() for suffix in case.handler.suffixes}
        real = sorted(
            path
            for path in (corpora / case.name).iterdir()
            if path.suffix.lower() in suffixes and path.stat().st_size <= REAL_BYTES
        )
        for path in Random(case.name).sample(real, min(REAL_FILES, len(real))):
            found[path.name] = path.read_bytes()
    return found


async def faults_of(
    case: FormatCase, sample: tuple[str, bytes], mutants: Mapping[str, bytes], folder: Path
) -> list[str]:
    """Have mutants of a sample read by real workers; return what is a fault of kbd."""
    settings = Settings(workers=WorkerLimits(wall_s=120.0))
    plugins = Plugins.discover(settings)
    faults: list[str] = []
    async with WorkerPool(plugins, settings) as workers:
        reads = FuzzedReads(case, plugins, workers, folder)
        stored = reads.put(*sample)
        for told, data in mutants.items():
            endings = await reads.read(stored, reads.put(sample[0], data))
            faults += [f"{told}, {each.deed}: {each}" for each in endings if each.fault]
    return faults


async def fuzz(
    case: FormatCase,
    samples: dict[str, bytes],
    folder: Path,
    seed: str,
    *,
    mutants: int | None = None,
    seconds: float = 0.0,
) -> Fuzzing:
    """Have mutants read by real workers, until so many were or the time is over."""
    settings = Settings(workers=WorkerLimits(wall_s=120.0))
    plugins = Plugins.discover(settings)
    found = Fuzzing(seed)
    end = time.monotonic() + seconds
    async with WorkerPool(plugins, settings) as workers:
        reads = FuzzedReads(case, plugins, workers, folder)
        stored = {name: reads.put(name, data) for name, data in samples.items()}
        number = -1
        while found.mutants < mutants if mutants is not None else time.monotonic() < end:
            number += 1
            chance = Random(f"{seed} {case.name} {number}")
            name = chance.choice(sorted(samples))
            data = mutant(samples[name], chance)
            if data == samples[name]:
                continue
            found.mutants += 1
            for ending in await reads.read(stored[name], reads.put(name, data)):
                found.calls[ending.verdict] += 1
                if ending.fault:
                    found.faults.append(
                        f"{ending.fault}: mutant {number} of {name} drawn with {seed!r}, "
                        f"{ending.deed}: {ending.verdict} {ending.message}"
                    )
        found.faults += [file.reason for file in workers.set_aside.files()]
        # The daemon's side is as it was: the good files are read.
        for name, file in stored.items():
            ended = await reads.read(file, file)
            assert not any(ending.fault for ending in ended), (name, ended)
    return found
