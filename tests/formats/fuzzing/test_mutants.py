"""Mutants of good files of every format, read by real workers: each ends in a verdict on the file.

A verdict is "ok" or one of a few codes with a message for people. Whatever else comes is a fault of
kbd: a worker that dies, a bare exception of Python, a path, an error that invites another try.
"""

import os
import time
from pathlib import Path

import anyio
import pytest

from format_cases import FormatCase, names
from fuzzed_reads import fuzz, samples_of
from office_formats import CSV, FORMATS, IMAGE, TEXT

REPOSITORY = Path(__file__).resolve().parents[3]

QUICK = ((TEXT, "asyncio"), (CSV, "trio"), (IMAGE, "asyncio"))
"""The formats whose workers start in no time."""

SOAK_S = 450.0
"""Seconds for each of the eight formats: an hour in all."""


def check(case: FormatCase, backend: str, folder: Path, seed: str, count: int) -> None:
    """Have so many mutants read, and see that there is a verdict on each."""
    samples = samples_of(case, folder / "samples")

    async def run() -> None:
        found = await fuzz(case, samples, folder, seed, mutants=count)
        print(found.line(case.name))
        assert found.faults == []
        assert found.calls["FILE_READ_FAILED"] or case is TEXT or case is CSV

    anyio.run(run, backend=backend)


@pytest.mark.parametrize(("case", "backend"), QUICK, ids=lambda each: getattr(each, "name", each))
def test_some_mutants_end_in_a_verdict(case: FormatCase, backend: str, tmp_path: Path) -> None:
    """A few of the formats that are read without large libraries."""
    check(case, backend, tmp_path, "first", 12)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("case", FORMATS, ids=names)
def test_mutants_end_in_a_verdict(case: FormatCase, backend: str, tmp_path: Path) -> None:
    """Some hundred calls of workers for each format, everything that it offers."""
    check(case, backend, tmp_path, f"second {backend}", 20)


@pytest.mark.soak
@pytest.mark.parametrize("case", FORMATS, ids=names)
def test_an_hour_of_mutants(case: FormatCase, tmp_path: Path) -> None:
    """Made and real files, drawn anew each time; KBD_FUZZ_SEED draws those of another run."""
    seed = os.environ.get("KBD_FUZZ_SEED", str(time.time_ns()))
    folder = Path(os.environ.get("KBD_CORPORA", REPOSITORY.parent / "shared" / "corpora"))
    samples = samples_of(case, tmp_path / "samples", folder)

    async def run() -> None:
        found = await fuzz(case, samples, tmp_path, seed, seconds=SOAK_S)
        print(f"seed {seed}", found.line(case.name))
        assert found.faults == []

    anyio.run(run, backend="asyncio")
