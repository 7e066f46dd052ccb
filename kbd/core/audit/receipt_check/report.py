"""The check of a receipt with the files that were given."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .claims import MAX_BYTES, Claim, Ill, read_receipt
from .files import FileFacts, check_file
from .lists import Quota, canonical
from .parts import Checks
from .shelf import Given, Shelf, gather

__all__ = ["Report", "check_receipt", "find_receipts"]

MAX_LISTED = 20_000
MAX_LISTED_OF_FILE = 4000
MIN_LISTED_OF_FILE = 20
"""Entries of lists that a receipt shows: of all files, of one at most, and of one at least."""

_KINDS = ("publish", "undo", "regenerate", "restore")


class Report(NamedTuple):
    """What was found.

    Args:
        path: The receipt.
        sha256: Its hash, which the log of the workbench has.
        workbench: The id and name of the workbench.
        publish: The checkpoint and the time of the publish.
        log: Heads of the log behind the events of the publish: number and the chain's hash there.
        files: What was found of each file.
        faults: What is wrong with the receipt itself.
        unknown: Files that were named and that it does not tell of.
    """

    path: str
    sha256: str
    workbench: tuple[str, str]
    publish: tuple[str, str]
    log: tuple[tuple[int, str], ...]
    files: tuple[FileFacts, ...]
    faults: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def is_false(self) -> bool:
        """Whether something is wrong."""
        return bool(self.faults) or any(each.faults for each in self.files)

    @property
    def is_whole(self) -> bool:
        """Whether all that is claimed was checked."""
        return not any(each.unproven for each in self.files)


def find_receipts(paths: Iterable[str]) -> tuple[list[Given], list[Given]]:
    """Return the receipts among the files that are given, and the other files.

    A receipt is a file that begins as one: if it is named whatever it is called, in a folder with
    the suffix of JSON.

    Raises:
        TooMany: There are too many files.
        OSError: A file cannot be read.
    """
    receipts: list[Given] = []
    others: list[Given] = []
    for each in gather(paths):
        may_be = not each.side and (each.is_named or each.name.endswith(".json"))
        is_one = may_be and _begins_as_receipt(each.path)
        (receipts if is_one else others).append(each)
    return receipts, others


def _begins_as_receipt(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(64 * 1024)
        tail = b""
        if len(head) == 64 * 1024:
            file.seek(-min(64 * 1024, file.seek(0, os.SEEK_END)), os.SEEK_END)
            tail = file.read()
    # Keys are sorted: `format` stands behind the files.
    return head.lstrip()[:1] == b"{" and b'"kbd-receipt"' in (head + tail)


def check_receipt(path: str, others: Iterable[Given], checks: Checks) -> Report:
    """Check a receipt.

    Args:
        path: The receipt.
        others: The files that were given.
        checks: What formats' parts hold.

    Raises:
        Ill: It is none.
        OSError: A file cannot be read.
    """
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    claim = read_receipt(data)
    claim.only("format", "version", "kbd", "workbench", "publish", "files")
    claim.text("kbd")
    faults = []
    if canonical(claim.value) + b"\n" != data:
        faults.append("it is not written as kbd writes receipts; its hash is not that of the log")
    shelf = Shelf(others)
    files = claim.items("files")
    for each in files:
        shelf.expect(each)
    publish = claim.child("publish")
    events = _events_of(publish)
    has_calls = publish.text("kind") == "publish"
    allowed = _listed_of_file(files)
    found: list[FileFacts] = []
    paths: set[str] = set()
    for each in files:
        versions, allowance = shelf.versions(each), Quota(allowed)
        facts = check_file(each, versions, checks, allowance, has_calls=has_calls)
        if facts.path in paths:
            faults.append(f"it tells of {facts.path} twice")
        elif found and facts.path < found[-1].path:
            faults.append(f"it tells of {facts.path} out of order")
        paths.add(facts.path)
        found.append(facts)
    workbench = claim.child("workbench")
    workbench.only("id", "name")
    return Report(
        path, hashlib.sha256(data).hexdigest(), (workbench.text("id"), workbench.text("name")),
        (publish.text("checkpoint_id"), publish.text("time")),
        tuple((each.count("head_seq"), each.sha256("hash") or "") for each in events),
        tuple(found), tuple(faults), shelf.unknown(),
    )  # fmt: skip


def _listed_of_file(files: Sequence[Claim]) -> int:
    """Return how many entries of lists are shown of each file; one renamed counts for two."""
    count = len(files) + sum("previous_path" in each for each in files)
    return max(MIN_LISTED_OF_FILE, min(MAX_LISTED_OF_FILE, MAX_LISTED // max(1, count)))


def _events_of(publish: Claim) -> list[Claim]:
    """Return the events of a publish; what else is said of it must be what a receipt says."""
    publish.only("publish_id", "checkpoint_id", "kind", "time", "intended", "completed")
    publish.text("publish_id")
    if publish.text("kind") not in _KINDS:
        raise Ill(f"the receipt: publish is called {publish.text('kind')!r}")
    events = [publish.child(name) for name in ("intended", "completed")]
    for each in events:
        each.only("seq", "head_seq", "hash")
        if each.count("seq") > each.count("head_seq") or each.sha256("hash") is None:
            raise Ill("the receipt: publish names no head of the log")
    if events[0].count("seq") >= events[1].count("seq"):
        raise Ill("the receipt: publish ends before it begins")
    return events
