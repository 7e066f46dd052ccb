"""Mutants of good files of every format, read by real workers: each ends in a verdict on the file.

A verdict is "ok" or one of a few codes with a message for people. Whatever else comes is a fault of
kbd: a worker that dies, a bare exception of Python, a path, an error that invites another try.
"""

import os
import re
import time
from pathlib import Path

import anyio
import pytest

from format_cases import FormatCase, PackageCase, names
from fuzzed_reads import faults_of, fuzz, samples_of
from office_formats import CSV, FORMATS, IMAGE, TEXT
from zipforge import forge, members

REPOSITORY = Path(__file__).resolve().parents[3]

QUICK = ((TEXT, "asyncio"), (CSV, "trio"), (IMAGE, "asyncio"))
"""The formats whose workers start in no time."""

PACKAGES = [case for case in FORMATS if isinstance(case, PackageCase)]

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


@pytest.mark.full
@pytest.mark.parametrize("case", PACKAGES, ids=names)
def test_a_prefix_that_is_declared_nowhere_is_read_or_refused(
    case: PackageCase, tmp_path: Path
) -> None:
    """In an element or an attribute of any part: the parser lets it through."""
    good = case.parts()
    mutants: dict[str, bytes] = {}
    for name, data in good.items():
        if name.endswith((".xml", ".rels")):
            for how, old, new in (
                ("child", rb"(.*)</", rb"\1<xdr:row>1</xdr:row></"),
                ("attribute", rb"(.*)/>", rb"\1 xdr:row='1'/>"),
            ):
                changed = re.sub(old, new, data, count=1, flags=re.DOTALL)
                mutants[f"{how} in {name}"] = forge(members({**good, name: changed}))
    sample = (f"good{case.suffix}", forge(members(good)))
    assert anyio.run(faults_of, case, sample, mutants, tmp_path) == []


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
