"""Dry run of a watch rule: what it would do with the files in its folder now, with no effects.

What could land is judged by the very decision that judges it when it lands. Blocking.
"""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import Literal, assert_never

import msgspec

from kbd.core.domain.watch_decisions import RecordLanding, decide_watch
from kbd.core.domain.watch_state import Landing, LandingStage, Watch, Watching
from kbd.core.watch.ingest import Ingested, hash_file
from kbd.core.watch.scanner import SeenFiles
from kbd.core.watch.tree import FolderEntry, NamePatterns, WatchedTree
from kbd.core.workbench.sandbox import file_name
from kbd.errors import KbdError
from kbd.events.watches import FileLanded, WatchRule
from kbd.requests.watches import TriedFile, TriedRun
from kbd.types import BlobHash, WatchId

__all__ = [
    "MAX_COMPARED",
    "MAX_COMPARED_BYTES",
    "MAX_LISTED",
    "DryRun",
    "copy_watch_state",
    "dry_run",
]

MAX_COMPARED = 1000
"""How many files are read to compare their contents with what landed before."""

MAX_COMPARED_BYTES = 1024 * 1024 * 1024
"""How much of them is read."""

MAX_LISTED = 1000
"""How many files are listed, and how many paths of runs; the others are counted."""

Verdict = Literal[
    "run", "known", "passed_over", "own", "no_match", "temporary", "link", "special", "failed"
]
"""As in `TriedFile`."""

_NO_WATCH = WatchId("0" * 16)
"""Stands for a watch that is not made yet."""


class DryRun(msgspec.Struct, frozen=True):
    """Result of a dry run; fields as in `WatchTested`.

    Args:
        files: What is in the folder.
        counts: How many files have which verdict.
        runs: What would be started.
        run_count: How many that is.
        problems: What could not be read, and why runs would not get far.
    """

    files: tuple[TriedFile, ...] = ()
    counts: dict[str, int] = {}
    runs: tuple[TriedRun, ...] = ()
    run_count: int = 0
    problems: tuple[str, ...] = ()


def copy_watch_state(watching: Watching, watch: Watch | None) -> Watching:
    """Copy the state that a dry run reads, for the original changes while its thread works.

    Args:
        watching: All watches.
        watch: The one that is tried, if it is one.
    """
    copied: dict[WatchId, Watch] = {}
    if watch is not None:
        landings = {
            number: msgspec.structs.replace(landing) for number, landing in watch.landings.items()
        }
        copied[watch.watch_id] = msgspec.structs.replace(
            watch,
            landings=landings,
            # The lists of paths only grow, which harms nobody who reads them meanwhile.
            contents=dict(watch.contents),
            signatures=dict(watch.signatures),
        )
    return Watching(copied, dict(watching.written))


def dry_run(
    watching: Watching, watch_id: WatchId | None, rule: WatchRule, limit_bytes: int
) -> DryRun:
    """Scan a rule's folder and return what would run.

    Args:
        watching: A snapshot.
        watch_id: The watch; None for a rule that is not made yet.
        rule: What is wanted.
        limit_bytes: The largest file that is taken.

    Raises:
        NotFound: The folder is not there.
        FileReadFailed: It cannot be read.
    """
    watch = watching.watches.get(watch_id or _NO_WATCH)
    if watch is None:
        watch = Watch(_NO_WATCH, rule, 0)
        watching = Watching({_NO_WATCH: watch}, watching.written)
    with WatchedTree(rule.folder) as tree:
        judge = _Classifier(tree, watching, watch, limit_bytes)
        patterns = NamePatterns(rule.patterns)
        tried = [judge.tried(found, patterns) for found in tree.walk()]
        unread = tuple(f"{path} cannot be read: {why}" for path, why in tree.unread.items())
    files = sorted(tried, key=attrgetter("path"))
    new = [file.path for file in files if file.verdict == "run" and file.path not in judge.waiting]
    runs = [*_resumable_runs(watch), *_batches(watch, new)]
    return DryRun(
        files=tuple(files[:MAX_LISTED]),
        counts=dict(Counter(file.verdict for file in files)),
        runs=tuple(TriedRun(paths=paths) for paths in _truncate_runs(runs)),
        run_count=len(runs),
        problems=(*unread, *_delivery_problems(rule)),
    )


class _Classifier:
    """Classifies each file by what would become of it.

    Attributes:
        waiting: Paths that are as they were when they landed, and wait for their run.
    """

    def __init__(
        self, tree: WatchedTree, watching: Watching, watch: Watch, limit_bytes: int
    ) -> None:
        self._tree, self._watching, self._watch = tree, watching, watch
        self._known = SeenFiles()
        self._limit_bytes = limit_bytes
        self._landed = {path for paths in watch.contents.values() for path in paths}
        self._open = {landing.path: landing for landing in watch.landings.values()}
        self._compared = self._compared_bytes = 0
        self.waiting: set[str] = set()

    def tried(self, found: FolderEntry, patterns: NamePatterns) -> TriedFile:
        """Return the verdict on an entry."""
        if found.kind != "file":
            return _verdict(found, found.kind)
        if not patterns.takes(found.path):
            return _verdict(found, "no_match")
        if self._known.knows(self._watch, found):
            return self._seen_before(found)
        try:
            if self._known.was_passed(self._watch, self._tree, found):
                return _verdict(found, "passed_over", "it was renamed or touched since")
            file_name(found.path)
            return self._landing(found)
        except KbdError as error:
            return _verdict(found, "failed", error.message)

    def _seen_before(self, found: FolderEntry) -> TriedFile:
        """Classify a file that is unchanged since it was seen last."""
        landing = self._open.get(found.path)
        if landing is None:
            return _verdict(found, "known" if found.path in self._landed else "passed_over")
        match landing.stage:
            case LandingStage.PARKED:
                return _verdict(found, "known", f"it failed: {landing.message}")
            case LandingStage.RUNNING:
                return _verdict(found, "known", "it is worked on now")
            case LandingStage.WAITING | LandingStage.RETRYING:
                self.waiting.add(found.path)
                return _verdict(found, "run", "it landed before, and waits")
            case _:
                assert_never(landing.stage)

    def _landing(self, found: FolderEntry) -> TriedFile:
        """Classify a file that could land as it is.

        Raises:
            KbdError: It cannot be read, or its folder cannot.
        """
        if found.size_bytes > self._limit_bytes:
            return _verdict(found, "failed", f"it is larger than {self._limit_bytes} bytes")
        self._compared += 1
        self._compared_bytes += found.size_bytes
        if self._compared > MAX_COMPARED or self._compared_bytes > MAX_COMPARED_BYTES:
            return _verdict(found, "run", "not compared with what landed before")
        sha256 = BlobHash(hash_file(self._tree, found.raw))
        if not sha256:
            return _verdict(found, "failed", "it went away while it was looked at")
        taken = Ingested(sha256, found.size_bytes, found.signature)
        land = RecordLanding(
            watch_id=self._watch.watch_id,
            path=found.path,
            folder="/".join((self._tree.folder, *found.path.split("/")[:-1])),
            sha256=sha256,
            size_bytes=found.size_bytes,
            signature=found.signature,
            gone=self._known.moved_from(self._watch, self._tree, found, taken),
        )
        # The same decision as when it lands, of which nothing is recorded.
        facts = decide_watch(self._watching, land).events
        if not facts:
            return _verdict(found, "known")
        (landed,) = facts
        assert isinstance(landed, FileLanded)
        match landed.outcome:
            case "moved":
                return _verdict(found, "known", f"it was {landed.moved_from}")
            case "own":
                return _verdict(found, "own")
            case "failed":
                return _verdict(found, "failed", landed.message)
            case _:
                return _verdict(found, "run")


def _verdict(found: FolderEntry, verdict: Verdict, reason: str = "") -> TriedFile:
    return TriedFile(
        path=found.path,
        size_bytes=found.size_bytes,
        verdict=verdict,
        reason=reason or msgspec.UNSET,
    )


def _delivery_problems(rule: WatchRule) -> tuple[str, ...]:
    if rule.deliver_to is None or os.access(rule.deliver_to, os.W_OK | os.X_OK):
        return ()
    return ("the folder for results is not there, or cannot be written to",)


def _waiting(watch: Watch) -> list[Landing]:
    """Return what landed and waits for its run."""
    return watch.in_stage(LandingStage.WAITING, LandingStage.RETRYING)


def _resumable_runs(watch: Watch) -> list[tuple[str, ...]]:
    """Return the paths of interrupted runs that will be resumed."""
    groups = dict.fromkeys(landing.group for landing in _waiting(watch) if landing.group)
    return [
        tuple(watch.landings[number].path for number in group if number in watch.landings)
        for group in groups
    ]


def _batches(watch: Watch, new: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of each run that would be begun."""
    limits = watch.rule.limits
    size = limits.batch_files if watch.rule.mode == "batch" else 1
    paths = iter([*(each.path for each in _waiting(watch) if not each.group), *new])
    while group := tuple(islice(paths, size)):
        yield group


def _truncate_runs(runs: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the first runs, as far as their paths may be listed; the last one perhaps in part."""
    left = MAX_LISTED
    for paths in runs:
        if left <= 0:
            return
        yield paths[:left]
        left -= len(paths)
