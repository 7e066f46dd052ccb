"""What is no whole case file is told in words, whatever it is."""

import io
import os
import struct
from pathlib import Path

import pytest

from cased import case_bytes, small, workbench
from kbd.core.audit.case_file import check_case
from kbd.core.audit.verify.case import Fault, check
from kbd.core.audit.verify.command import main
from kbd.errors import FileReadFailed, NotFound


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small case file."""
    folder = tmp_path_factory.mktemp("case")
    return case_bytes(folder, small(workbench(folder / "bench")))


def faults_of(data: bytes) -> tuple[Fault, ...]:
    """What the check finds in a file of these bytes."""
    return check(io.BytesIO(data)).faults


def test_a_cut_file_is_told_wherever_it_was_cut(case: bytes) -> None:
    """How many bytes are missing, and in what the file ends; nothing else is called wrong."""
    manifest_ends = case.index(b"PK\x03\x04", case.rindex(b"\n ]\n}\n"))
    for left in [*range(manifest_ends, len(case), 7001), len(case) - 1, len(case) - 200]:
        (fault,) = faults_of(case[:left])
        assert (fault.kind, fault.offset) == ("length", left)
        assert f"the file ends here, {len(case) - left} bytes too early, in " in fault.reason


def test_a_file_cut_before_its_manifest_is_told(case: bytes) -> None:
    """Without the manifest there is nothing to compare with, and that is said."""
    for left in (1, 40, 5000, case.rindex(b"\n ]\n}\n")):
        (fault,) = faults_of(case[:left])
        assert (fault.kind, fault.offset) == ("manifest", 0)
        assert "no manifest.json was found" in fault.reason


def test_what_follows_the_end_is_told(case: bytes) -> None:
    """Bytes behind the seal, few or many, are found at their place."""
    for more in (b"\0", b"x" * 100_000, case):
        (fault,) = faults_of(case + more)
        assert (fault.kind, fault.offset, fault.size) == ("length", len(case), len(more))


def test_what_is_put_before_the_beginning_is_told(case: bytes) -> None:
    """A zip may have anything before it; a case file may not."""
    (fault,) = faults_of(b"#!/usr/bin/env python3\n" + case)
    assert fault.kind == "manifest"


def test_bytes_that_came_or_went_in_the_middle_are_told(case: bytes) -> None:
    """From there on nothing fits; the first fault is at the place, and there is an end to them."""
    at = case.index(b"<html>")
    for data in (case[:at] + b"!" + case[at:], case[:at] + case[at + 1 :]):
        found = faults_of(data)
        assert 1 < len(found) <= 51
        assert min(fault.offset for fault in found if fault.kind != "length") == at


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"\0" * 5000, "this is no case file"),
        (b"PK\x05\x06" + bytes(18), "this is no case file"),
        (b"plain text\n" * 100, "this is no case file"),
    ],
    ids=["empty", "zeros", "an empty zip", "text"],
)
def test_what_is_no_case_file_is_told(data: bytes, reason: str) -> None:
    """Other files are refused as what they are."""
    (fault,) = faults_of(data)
    assert reason in fault.reason


def lying(length: int) -> bytes:
    """The header of a manifest that says how long it is, and little more."""
    return (
        struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, length, length, 13, 0)
        + b"manifest.json"
    )


def test_lies_about_sizes_cost_nothing(case: bytes) -> None:
    """What a header, a seal or a manifest claims is not believed before it is there."""
    assert "no manifest.json" in faults_of(lying(0xFFFFFFF0) + b"{}")[0].reason
    deep = b"[" * 200_000
    assert "manifest" in faults_of(lying(len(deep)) + deep)[0].reason
    seal_at = case.rindex(b"kbd case 1 manifest ")
    huge = case[: seal_at + 20] + b"9" * 20 + case[seal_at + 40 :]
    assert [fault.kind for fault in faults_of(huge)] == ["seal"]
    many = b'{"members": [{"name": "a", "size": 9000000000000000000, "pieces": []}]}'
    assert "manifest" in faults_of(lying(len(many)) + many)[0].reason


def test_kbd_verify_says_what_it_cannot_read(tmp_path: Path) -> None:
    """A file that is not there, a folder, or a pipe, is an error with a code."""
    with pytest.raises(NotFound):
        check_case(tmp_path / "nothing.zip")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(FileReadFailed):
            check_case(path)


def test_the_command_says_what_it_cannot_read(
    case: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with 1 and a line for people; a command line without sense ends with 2."""
    path = tmp_path / "case.zip"
    path.write_bytes(case)
    os.mkfifo(tmp_path / "pipe")
    for other in ("nothing.zip", ".", "pipe"):
        assert main([str(path), str(tmp_path / other)]) == 1
        assert str(tmp_path / other) in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([str(path), "--head", "12"])
    assert ended.value.code == 2
    assert "a head is SEQ:HASH" in capsys.readouterr().err


def test_a_kept_head_is_compared(
    case: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log's own head fits; another, one behind the end or within a frame does not."""
    path = tmp_path / "case.zip"
    path.write_bytes(case)
    history = check(io.BytesIO(case), (3, 4)).history
    assert history is not None
    assert set(history.heads) == {3}  # Event 4 is not the last of its frame.
    assert main([str(path), "--head", f"17:{history.head}"]) == 0
    assert main([str(path), "--head", f"3:{history.heads[3]}"]) == 0
    assert "is the log's at event 3" in capsys.readouterr().out
    for seq, words in ((3, "DIFFERS"), (4, "DIFFERS"), (18, "ends at event 17")):
        assert main([str(path), "--head", f"{seq}:{history.head}"]) == 1
        assert words in capsys.readouterr().out


def test_unpacking_overwrites_nothing(
    case: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To a new or an empty folder, every member with its bytes; to no other; nothing damaged is."""
    path, target = tmp_path / "case.zip", tmp_path / "out"
    path.write_bytes(case)
    assert main([str(path), "--extract", str(target)]) == 0
    assert (target / "report.html").read_bytes() == b"<html>"
    for blob in (target / "blobs").iterdir():
        assert blob.read_bytes() in case
    assert main([str(path), "--extract", str(target)]) == 1
    assert "is not an empty folder" in capsys.readouterr().out
    path.write_bytes(case + b"!")
    assert main([str(path), "--extract", str(tmp_path / "other")]) == 1
    assert not (tmp_path / "other").exists()
