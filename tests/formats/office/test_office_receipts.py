"""Receipts over real files: what edits change is found again by code that shares nothing."""

import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from receipt_rig import FORMATS, Case, randomly_edited

SHARES = 40
"""Into as many tests the corpora are divided."""


def _files(corpora: Path, share: int) -> Iterator[tuple[str, Path]]:
    found = sorted(path for path in corpora.rglob("*") if path.is_file())
    for kind, handler in FORMATS.items():
        own = [path for path in found if path.suffix.lower() in handler.suffixes]
        yield from ((kind, path) for path in own[share::SHARES])


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
@pytest.mark.parametrize("share", range(SHARES))
def test_receipts_of_random_edits_verify(corpora: Path, tmp_path: Path, share: int) -> None:
    """Two edits of each editable file are proven; a byte of an untouched part is named."""
    counts: Counter[str] = Counter()
    for kind, path in _files(corpora, share):
        versions = randomly_edited(kind, path, tmp_path, steps=2)
        if len(versions) == 1:
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
