"""Receipts of one file without a daemon: versions made by a format's edits, saved, checked."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import msgspec

import kbd_docx.receipt_check
import kbd_pptx.receipt_check
import kbd_xlsx.receipt_check
from kbd.core.audit.receipt_check.report import Report, check_receipt, find_receipts
from kbd.core.plugins.format_calls import parse_operations
from kbd.core.workbench.receipts import VERSION
from kbd.errors import KbdError
from kbd.formats import FormatHandler, Source
from kbd.formats.receipts import MAX_LISTED_OF_FILE, canonical_json
from kbd.office.handler import OfficeFormat
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from kbd_text.handler import TextFormat
from kbd_xlsx import XlsxFormat
from whole.seeded_operations import operations

FORMATS: dict[str, OfficeFormat] = {
    "xlsx": XlsxFormat(), "docx": DocxFormat(), "pptx": PptxFormat(),
}  # fmt: skip

CHECKS: dict[str, ModuleType] = {
    kind: module
    for module in (kbd_docx.receipt_check, kbd_pptx.receipt_check, kbd_xlsx.receipt_check)
    for kind in module.TYPES
}

FIRST_STEP = 11


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def edited(
    kind: str, source: Path | None, edits: Sequence[Sequence[dict[str, Any]]], folder: Path
) -> list[Path]:
    """Return the versions that a file goes through, the first one the source."""
    handler = FORMATS[kind]
    name = f"file.{kind}" if source is None else source.name
    versions = [] if source is None else [source]
    for number, edit in enumerate(edits):
        target = folder / f"v{number}{Path(name).suffix}"
        before = Source(versions[-1], name) if versions else None
        handler.apply(before, parse_operations(handler, edit), target)
        versions.append(target)
    return versions


def randomly_edited(kind: str, source: Path, folder: Path, steps: int) -> list[Path]:
    """Return the versions that a file goes through by edits drawn from its name.

    One version alone if the file cannot be read, or refuses all.
    """
    handler, chance = FORMATS[kind], Random(source.name)
    versions = [source]
    try:
        told = handler.map(Source(source, source.name))
    except KbdError:
        return versions
    for step in range(steps):
        target = folder / f"v{step}{source.suffix}"
        for _ in range(12):
            target.unlink(missing_ok=True)
            drawn = operations(kind, chance, told, 1)
            before = Source(versions[-1], source.name)
            try:
                handler.apply(before, parse_operations(handler, drawn), target)
            except KbdError:
                continue
            if sha256(target) != sha256(versions[-1]):
                versions.append(target)
                break
    return versions


class Case:
    """A saved receipt of one file.

    Args:
        folder: Where it is saved.
        name: The file's name.
        versions: Its versions; None where there was no file.
        handler: Its format.

    Attributes:
        receipt: What the receipt says; `write` saves it.
    """

    def __init__(
        self, folder: Path, name: str, versions: Sequence[Path | None], handler: FormatHandler
    ) -> None:
        self.folder, self.name, self.versions = folder, name, versions
        shutil.rmtree(folder, ignore_errors=True)
        for side in ("before", "after", "between"):
            (folder / side).mkdir(parents=True)
        for version, path in zip(versions, self._paths(), strict=True):
            if version is not None:
                shutil.copyfile(version, path)
        numbers = tuple(range(FIRST_STEP, FIRST_STEP + len(versions) - 1))
        sources = tuple(None if each is None else Source(each, name) for each in versions)
        assert isinstance(handler, OfficeFormat | TextFormat)
        inside = handler.receipt_facts(sources, numbers, MAX_LISTED_OF_FILE)
        self.receipt = _receipt(name, versions, numbers, inside)
        self.write()

    def _paths(self) -> list[Path]:
        middle = [self.folder / "between" / f"{n}" for n in range(len(self.versions) - 2)]
        return [self.folder / "before" / self.name, *middle, self.after]

    @property
    def after(self) -> Path:
        """The newest version."""
        return self.folder / "after" / self.name

    @property
    def file(self) -> dict[str, Any]:
        """What the receipt says of the file."""
        found: dict[str, Any] = self.receipt["files"][0]
        return found

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """What the receipt says of the file's parts."""
        return {part["part"]: part for part in self.file["inside"]["parts"]}

    def write(self) -> None:
        """Save the receipt as it is now."""
        data = canonical_json(self.receipt) + b"\n"
        (self.folder / "receipt.json").write_bytes(data)

    def check(self, *paths: Path) -> Report:
        """Check the folder, or what is given."""
        given = [str(path) for path in paths or (self.folder,)]
        (receipt,), others = find_receipts(given)
        return check_receipt(receipt.path, others, CHECKS)

    def lie(self, change: Callable[["Case"], object]) -> tuple[str, ...]:
        """Return what is found when the receipt is changed; it is as before when this returns."""
        told = msgspec.json.encode(self.receipt)
        change(self)
        self.write()
        try:
            report = self.check()
            return (*report.faults, *report.files[0].faults)
        finally:
            self.receipt = msgspec.json.decode(told)
            self.write()


def _receipt(
    name: str, versions: Sequence[Path | None], numbers: Sequence[int], inside: dict[str, Any]
) -> dict[str, Any]:
    hashes = [None if each is None else sha256(each) for each in versions]
    sides = [
        None if each is None else {"sha256": sha256(each), "size_bytes": each.stat().st_size}
        for each in (versions[0], versions[-1])
    ]
    steps = [
        {
            "seq": number, "time": "then", "kind": "client_call",
            "before": before, "after": after,
        }
        for number, before, after in zip(numbers, hashes, hashes[1:], strict=False)
    ]  # fmt: skip
    began, ended = ({"seq": seq, "head_seq": seq, "hash": "0" * 64} for seq in (90, 91))
    change = "added" if sides[0] is None else "deleted" if sides[1] is None else "modified"
    return {
        "format": "kbd-receipt",
        "version": VERSION,
        "kbd": "0",
        "workbench": {"id": "0" * 16, "name": "test"},
        "publish": {
            "publish_id": "p", "checkpoint_id": "c", "kind": "publish", "time": "then",
            "intended": began, "completed": ended,
        },
        "files": [
            {
                "path": name, "change": change, "before": sides[0], "after": sides[1],
                "steps": steps, "steps_complete": True,
                **({} if sides[1] is None else {"inside": inside}),
            }
        ],
    }  # fmt: skip
