"""Any byte of a case file that is flipped is found, and located to the byte."""

import io
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from cased import case_bytes, contents, small, workbench
from kbd.core.audit.case_file import check_case
from kbd.core.audit.verify.case import Fault, check
from kbd.core.audit.verify.layout import SEAL_BYTES
from kbd.core.audit.verify.opening import opened

SEED = 20240607
EVERY_DAY = 80
"""Flips anywhere, beside those in the places that are not contents."""


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small case file."""
    folder = tmp_path_factory.mktemp("case")
    return case_bytes(folder, small(workbench(folder / "bench")))


def faults_of(data: bytes) -> tuple[Fault, ...]:
    """What the check finds in a case file of these bytes."""
    return check(io.BytesIO(data)).faults


def flipped(data: bytes, at: int, by: int) -> bytes:
    """The same bytes with one that differs."""
    return data[:at] + bytes((data[at] ^ by,)) + data[at + 1 :]


def not_found(data: bytes, places: Iterator[int] | range | list[int]) -> list[object]:
    """Flip one byte after the other; return those that are not told as exactly that byte."""
    dice = random.Random(SEED)
    missed: list[object] = []
    tried = 0
    for at in places:
        found = faults_of(flipped(data, at, dice.randrange(1, 256)))
        tried += 1
        if [(fault.offset, fault.size) for fault in found] != [(at, 1)]:
            missed.append((at, found))
    assert tried
    return missed


def directory_start(data: bytes) -> int:
    """Where the directory of a case file begins."""
    return data.index(b"PK\x01\x02", data.index(b"PK\x03\x04", 50_000))


def test_a_whole_case_file_has_no_fault(case: bytes) -> None:
    """What was written is whole, and the check says what is in it."""
    found = check(io.BytesIO(case))
    assert found.faults == ()
    assert found.history is not None
    assert (found.history.seq, found.blobs) == (17, 4)


def test_flips_anywhere_are_told_to_the_byte(case: bytes) -> None:
    """A sample over all bytes: each flip is one fault, at its byte."""
    assert not_found(case, random.Random(SEED).sample(range(len(case)), EVERY_DAY)) == []


def test_flips_between_the_contents_are_told_to_the_byte(case: bytes) -> None:
    """All of the seal, the end record, an entry of the directory, two headers."""
    end = len(case)
    manifest = case.index(b"manifest.json") - 30
    places = chain(
        range(0, 30 + 11, 2),
        range(manifest, manifest + 30 + 13),
        range(end - SEAL_BYTES - 22, end, 4),
        range(directory_start(case), directory_start(case) + 46 + 11),
    )
    assert not_found(case, places) == []


def test_a_flip_is_told_with_its_region(case: bytes, tmp_path: Path) -> None:
    """`kbd verify` gets the member, the byte of the case file, and what the byte was."""
    at = case.index(b"KBDLOG\r\n")
    path = tmp_path / "case.zip"
    path.write_bytes(flipped(case, at, 1))
    (fault,) = check_case(path).faults
    assert (fault.kind, fault.offset) == ("content", at)
    assert fault.file == "log/00000000000000000001.kbl"
    assert fault.message == f"content of {fault.file}: byte 0 of it is 0x4a and was 0x4b"


def test_two_flips_in_a_piece_are_told_with_the_piece(case: bytes) -> None:
    """Where the byte cannot be known, the fault names the piece: no guess passes for knowledge."""
    at = case.index(bytes(range(256)))
    (fault,) = faults_of(flipped(flipped(case, at + 70, 1), at + 7000, 1))
    assert (fault.offset, fault.size) == (at, 65536)
    assert "its bytes 0 to 65535 are not what they were" in fault.reason


def run_itself(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a case file as a program, on a Python without site packages."""
    command = [sys.executable, "-I", "-S", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_file_checks_itself(case: bytes, tmp_path: Path) -> None:
    """`python3 case.zip` ends with 0 if it is whole, else not, and names the byte."""
    path = tmp_path / "case.zip"
    path.write_bytes(case)
    whole = run_itself(path)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert "17 events" in whole.stdout
    assert "is whole" in whole.stdout
    for mark in (b"KBDLOG\r\n", b"<html>", b'\n "members"'):
        at = case.index(mark)
        path.write_bytes(flipped(case, at, 64))
        told = run_itself(path)
        assert (told.returncode, told.stderr) == (1, "")
        assert f"at byte {at}:" in told.stdout


def test_the_file_tells_of_its_own_verifier(case: bytes, tmp_path: Path) -> None:
    """A flip in the verifier's source is told before any of it is run."""
    path = tmp_path / "case.zip"
    at = case.index(b"def unpacked")
    path.write_bytes(flipped(case, at, 2))
    told = run_itself(path)
    assert told.returncode == 1
    start, end = case.rindex(b"PK\x03\x04", 0, at), case.index(b"PK\x03\x04", at)
    span = f"bytes {start + 30 + len('verify/packed.py')} to {end - 1}: content of verify/packed.py"
    assert span in told.stderr
    start, end = 30 + len("__main__.py"), case.index(b"PK\x03\x04", 4)
    assert f"bytes {start} to {end - 1}: content of __main__.py" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.full
@pytest.mark.parametrize("version", range(8, 16))
def test_it_runs_on_every_python_since_3_8(case: bytes, tmp_path: Path, version: int) -> None:
    """A whole one ends with 0, and a flip is told, on each Python that is here."""
    python = shutil.which(f"python3.{version}")
    if not python or subprocess.run([python, "-V"], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python 3.{version} here")
    path = tmp_path / "case.zip"
    at = case.index(b"<html>")
    for data, code, words in (
        (case, 0, "is whole"), (flipped(case, at, 1), 1, f"at byte {at}:")
    ):  # fmt: skip
        path.write_bytes(data)
        command = [python, "-I", "-S", "-W", "error", str(path)]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (told.returncode, told.stderr) == (code, "")
        assert words in told.stdout


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(4))
def test_every_flip_is_told_to_the_byte(case: bytes, part: int) -> None:
    """All bytes of a case file, each flipped once."""
    assert not_found(case, range(part, len(case), 4)) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_no_flip_ends_in_success(tmp_path: Path) -> None:
    """300 flips of a whole case file with its report, each told by the file itself.

    What Python itself cannot open it refuses with words of its own: `__main__.py`, the directory.
    """
    data = case_bytes(tmp_path, contents(workbench(tmp_path / "bench")))
    dice = random.Random(SEED)
    first, last = data.index(b"PK\x03\x04", 4), directory_start(data)
    path = tmp_path / "flipped.zip"
    for at in dice.sample(range(len(data)), 300):
        path.write_bytes(flipped(data, at, dice.randrange(1, 256)))
        told = run_itself(path)
        assert told.returncode != 0, at
        if first <= at < last:
            assert "DAMAGED" in told.stdout + told.stderr, at
            assert "Traceback" not in told.stderr, at


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_no_flip_of_what_starts_the_verifier_ends_in_success(case: bytes, tmp_path: Path) -> None:
    """Every byte of `__main__.py`: some of its bits, and the signs that could hide code.

    What is no Python any more is refused by it. All else is run.
    """
    path = tmp_path / "flipped.zip"
    start, size = 30 + 11, opened(io.BytesIO(case), len(case)).case.members[0].size
    tried = 0
    for at in range(start, start + size):
        others = {case[at] ^ 1 << bit for bit in range(8)} | set(b"#\n \"'\\0(")
        dice = random.Random(at)
        for value in dice.sample(sorted(others - {case[at]}), 3):
            data = case[:at] + bytes((value,)) + case[at + 1 :]
            try:
                compile(data[start : start + size], "__main__.py", "exec")
            except (SyntaxError, ValueError):
                continue
            path.write_bytes(data)
            tried += 1
            assert run_itself(path).returncode != 0, (at, value)
    assert tried > size
