"""Receipts over real files: what edits change is found again by code that shares nothing."""

import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbd.core.plugins.format_calls import parse_operations
from kbd.errors import KbdError
from kbd.formats import Source
from kbd_text.handler import TextFormat
from receipt_rig import FORMATS, Case, randomly_edited

SHARES = 40
"""Into as many tests the corpora are divided."""

SURE: dict[str, dict[str, Any]] = {
    "xlsx": {"op": "ensure_sheet", "sheet": "A sheet of this test"},
    "docx": {"op": "insert_paragraph", "at": 1, "text": "x"},
    "pptx": {"op": "add_slide", "title": "x"},
}
"""An edit that each file takes that can be edited at all."""

PLAIN = (".csv", ".tsv", ".json")


def _files(corpora: Path, share: int) -> Iterator[tuple[str, Path]]:
    found = sorted(path for path in corpora.rglob("*") if path.is_file())
    for kind, handler in FORMATS.items():
        own = [path for path in found if path.suffix.lower() in handler.suffixes]
        yield from ((kind, path) for path in own[share::SHARES])


def _is_editable(kind: str, path: Path, target: Path) -> bool:
    """Return whether a file takes an edit, found out otherwise than by edits that are drawn."""
    handler, source = FORMATS[kind], Source(path, path.name)
    target.unlink(missing_ok=True)
    try:
        handler.map(source)
        handler.apply(source, parse_operations(handler, [SURE[kind]]), target)
    except KbdError:
        return False
    return True


def flip_part(path: Path, name: str, chance: Random) -> None:
    """Flip one bit of a part where it lies packed in its zip."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as package:
        info = package.getinfo(name)
    names, extra = struct.unpack_from("<2H", data, info.header_offset + 26)
    start = info.header_offset + 30 + names + extra
    data[start + chance.randrange(info.compress_size)] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(data))


def change_byte(path: Path, name: str, chance: Random) -> None:
    """Change one byte of a part, and pack it anew with a checksum that fits."""
    with zipfile.ZipFile(path) as package:
        parts = [(info, package.read(info)) for info in package.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for info, data in parts:
            if info.filename == name:
                at = chance.randrange(len(data))
                data = data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
            package.writestr(info.filename, data)


@pytest.mark.sampled(SHARES)
@pytest.mark.parametrize(
    "share",
    [
        # Edits and proofs of all files take a thirtieth of the time of all tests.
        pytest.param(share, marks=[pytest.mark.soak] if share % 3 else [])
        for share in range(SHARES)
    ],
)
def test_receipts_of_random_edits_verify(corpora: Path, tmp_path: Path, share: int) -> None:
    """Two edits of each editable file are proven; a byte of an untouched part is named."""
    counts: Counter[str] = Counter()
    for kind, path in _files(corpora, share):
        versions = randomly_edited(kind, path, tmp_path, steps=2)
        if len(versions) == 1:
            assert not _is_editable(kind, path, tmp_path / f"sure{path.suffix}"), path
            continue
        case = Case(tmp_path / "case", path.name, versions, FORMATS[kind])
        report = case.check()
        assert (report.faults, report.files[0].faults) == ((), ()), path
        assert report.is_whole, (path, report.files[0].unproven)
        counts[kind] += 1
        chance = Random(path.name)
        with zipfile.ZipFile(case.after) as package:
            sizes = {info.filename: info.file_size for info in package.infolist()}
        untouched = [
            name for name, part in case.parts.items()
            if part["status"] == "identical" and sizes.get(name)
        ]  # fmt: skip
        whole = case.after.read_bytes()
        for harm in (flip_part, change_byte):
            if untouched:
                name = chance.choice(untouched)
                harm(case.after, name, chance)
                faults = case.check().files[0].faults
                named = [each for each in faults if "no call touched it" in each]
                assert [each.startswith(f"part {name}: ") for each in named] == [True], path
                case.after.write_bytes(whole)
                counts["named"] += 1

    assert all(counts[kind] for kind in FORMATS)
    assert counts["named"]


def _lines_edited(path: Path, folder: Path, steps: int) -> list[Path]:
    """Return the versions that a plain file goes through by lines that change, come and go."""
    chance, versions, seen = Random(path.name), [path], [path.read_bytes()]
    while len(versions) <= steps:
        lines = seen[-1].splitlines(keepends=True)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(lines) + 1)
            new = [chance.choice((b"x,1\n", b"\xff\xfe;\r\n", b"\n", *lines[:20]))]
            lines[at : at + chance.randrange(3)] = new if chance.randrange(4) else []
        data = b"".join(lines)
        if data not in seen:
            seen.append(data)
            versions.append(folder / f"v{len(versions)}")
            versions[-1].write_bytes(data)
    return versions


@pytest.mark.sampled(SHARES)
@pytest.mark.parametrize("share", range(SHARES))
def test_receipts_of_random_edits_of_plain_files_verify(
    corpora: Path, tmp_path: Path, share: int
) -> None:
    """Tables and texts, line by line; one changed byte of a line that nobody touched is found."""
    found = sorted(path for path in corpora.rglob("*") if path.suffix.lower() in PLAIN)
    for path in found[share::SHARES]:
        versions = _lines_edited(path, tmp_path, steps=2)
        case = Case(tmp_path / "case", path.name, versions, TextFormat())
        report = case.check()
        assert (report.faults, report.files[0].faults) == ((), ()), path
        assert report.is_whole, (path, report.files[0].unproven)
        data = bytearray(case.after.read_bytes())
        if data:
            data[Random(path.name).randrange(len(data))] ^= 1
            case.after.write_bytes(data)
            assert any("is not the version after" in each for each in case.check().files[0].faults)
