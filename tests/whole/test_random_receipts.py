"""Receipts behind random histories: whatever led to a publish, its receipt is true and whole.

Drafts are edited, discarded, recovered, rebased, published in part or beside what somebody wrote by
hand, undone and restored, in an order that is drawn. Each receipt is checked with the versions of
the log alone.
"""

import base64
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbd.client.blocking import RemoteError
from kbd.core.audit.receipt_check.report import check_receipt, find_receipts
from receipt_rig import CHECKS
from wired import Wired, wired

SEEDS = 12

STEPS = 80

INTERNAL_ERROR = -32603
"""The code of JSON-RPC for a fault of the server."""

NAMES = ("a.txt", "b.txt", "c.txt", "new.txt")


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here; on which backend is nothing to what they promise."""
    with wired("asyncio") as running:
        yield running


class _History:
    """A workbench to which random things are done; what is refused is passed over."""

    def __init__(self, bench: Wired, chance: Random) -> None:
        self._bench, self._chance = bench, chance
        self.workbench_id = bench.workbench(a__txt="a1\na2\na3\n", b__txt="b\n", c__txt="c\nc\n")
        self._published = bench.published(self.workbench_id)

    def ask(self, method: str, **params: Any) -> Any:
        """Ask for something; None if it is refused."""
        try:
            return self._bench.ask(method, workbench_id=self.workbench_id, **params)
        except RemoteError as error:
            if error.code == INTERNAL_ERROR:
                raise
            return None

    def step(self) -> None:
        """Do one thing."""
        acts: dict[Callable[[], object], int] = {
            self._write: 9, self._book: 5, self._remove: 2, self._move: 2, self._publish: 7,
            self._by_hand: 2, self._restore: 1, self._undo: 2,
            lambda: self.ask("DraftRebase"): 2, lambda: self.ask("DraftDiscard"): 1,
            lambda: self.ask("WorkbenchRecover"): 2,
        }  # fmt: skip
        self._chance.choices([*acts], [*acts.values()])[0]()

    def _write(self) -> None:
        lines = [f"{self._chance.choice('abcx')}{n}\n" for n in range(self._chance.randrange(1, 6))]
        self._put(self._chance.choice(NAMES), "".join(lines))

    def _put(self, name: str, text: str) -> None:
        arguments = {"path": name, "content": text}
        self.ask("ToolsCall", name="write_text_file", arguments=arguments)

    def _book(self) -> None:
        cell = f"{self._chance.choice('ABC')}{self._chance.randrange(1, 5)}"
        told = {"cell": cell, "value": self._chance.choice([1, 2, "x", "=A1", None])}
        ops = [
            {"op": "ensure_sheet", "sheet": "S"},
            {"op": "set_cells", "sheet": "S", "cells": [told]},
        ]
        for new in ({}, {"create_new": True}):
            if self.ask("XlsxApplyOps", path="book.xlsx", ops=ops, **new):
                return

    def _remove(self) -> None:
        self.ask("WorkbenchFilesRemove", workbench_paths=[self._chance.choice(NAMES)])

    def _move(self) -> None:
        name = self._chance.choice(NAMES)
        if (self._published / name).exists():
            self._put(f"moved {name}", (self._published / name).read_text())
            self.ask("WorkbenchFilesRemove", workbench_paths=[name])

    def _by_hand(self) -> None:
        path = self._published / self._chance.choice(NAMES)
        if path.exists():
            path.chmod(0o600)
            path.write_text(f"{path.read_text()}by hand {self._chance.random()}\n")

    def _publish(self) -> None:
        found = self.ask("ReviewGetChangeSet") or {"changes": []}
        changes = {each["path"]: each["change_type"] for each in found["changes"]}
        gone = [path for path, change in changes.items() if change == "deleted"]
        if gone:
            self.ask("ReviewSetDeletionConfirmations", paths=gone)
        params: dict[str, Any] = self._chance.choice(
            [
                {},
                {"on_conflict": "keep_both"},
                {"paths": [self._chance.choice([*changes, "a.txt"])]},
            ]
        )
        self.ask("DraftPublish", **params)

    def _restore(self) -> None:
        points = self.ask("CheckpointsList")["checkpoints"]
        if points:
            point = self._chance.choice(points)["checkpoint_id"]
            self.ask("CheckpointRestore", checkpoint_id=point)

    def _undo(self) -> None:
        if self._chance.random() < 0.5:
            self._bench.script.forget()
            self.ask("WorkshopSendUserMessage", text="go on")
        messages = self.ask("WorkshopGetConversation")["messages"]
        named = [each["message_id"] for each in messages if each.get("role") == "user"]
        if named:
            self.ask("WorkshopUndoToMessage", message_id=self._chance.choice(named))

    def blob(self, sha256: str) -> bytes:
        """Return the bytes of a version, from the log's store."""
        piece = self._bench.ask(
            "BlobRead", workbench_id=self.workbench_id, hash=sha256, limit=1_000_000
        )
        assert not piece["has_more"]
        return base64.b64decode(piece["base64"])


def _hashes(file: dict[str, Any]) -> set[str]:
    ends = {file[side]["sha256"] for side in ("before", "after") if file[side]}
    return ends | {step[side] for step in file["steps"] for side in ("before", "after")} - {None}


@pytest.mark.full
@pytest.mark.sampled(SEEDS)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_receipts_of_random_histories_are_true_and_whole(
    bench: Wired, tmp_path: Path, seed: int
) -> None:
    """Each publish, undo and restore has one; the checker proves all of it from the versions."""
    history, kinds = _History(bench, Random(seed)), Counter[str]()
    for _ in range(STEPS):
        history.step()
    done = [
        event["data"]["checkpoint_id"]
        for event in bench.daemon.events(history.workbench_id)
        if event["type"] == "PublishCompleted"
    ]
    assert done
    for checkpoint_id in done:
        found = history.ask("ReceiptGet", checkpoint_id=checkpoint_id)
        folder = tmp_path / checkpoint_id
        folder.mkdir()
        (folder / "receipt.json").write_bytes(history.blob(found["hash"]))
        for sha256 in {each for file in found["receipt"]["files"] for each in _hashes(file)}:
            (folder / sha256).write_bytes(history.blob(sha256))
        (receipt,), others = find_receipts([str(folder)])
        report = check_receipt(receipt.path, others, CHECKS)
        assert (report.is_false, report.is_whole) == (False, True), report
        kinds[found["receipt"]["publish"]["kind"]] += 1
    assert kinds["publish"]
