"""Scanner of a watched folder: finds which files are new, and what one of them is. Blocking."""

import threading
import time
from collections.abc import Iterable

import msgspec

from kbd.core.domain.watch_decisions import PassOverFiles, RecordLanding
from kbd.core.domain.watch_state import Watch
from kbd.core.watch.ingest import Unsettled, ingest_file
from kbd.core.watch.name_patterns import NamePatterns
from kbd.core.watch.seen_files import SeenFiles
from kbd.core.watch.tree import FolderEntry, WatchedTree
from kbd.core.workbench.sandbox import file_name
from kbd.errors import KbdError
from kbd.events.blobs import BlobStore
from kbd.events.watches import PassedFile, WatchRule
from kbd.types import WatchId

__all__ = ["ScanResult", "Scanner", "topmost_paths"]

_YIELD_ENTRIES, _YIELD_S = 100, 0.0002
"""After so many entries a scan stands back: with four at once the event loop waits for 5 ms then
(99th percentile) instead of 20, and 100,000 entries take a quarter of a second longer."""


class ScanResult(msgspec.Struct, frozen=True):
    """Result of a scan.

    Args:
        fresh: Files that look otherwise than is known.
        remembered: Paths of the others of which something is noted; None if not all were seen.
        unread: Folders that could not be read, with the reason.
    """

    fresh: list[FolderEntry]
    remembered: set[str] | None
    unread: dict[str, str]


class Scanner:
    """Scanner of one watched folder.

    Args:
        watch_id: Which.
        rule: Its rule.
        known: What is known of its files.
        file_bytes: The largest file that is taken.
    """

    def __init__(
        self, watch_id: WatchId, rule: WatchRule, known: SeenFiles, file_bytes: int
    ) -> None:
        self._watch_id, self._known, self._file_bytes = watch_id, known, file_bytes
        self._folder, self._patterns = rule.folder, NamePatterns(rule.patterns)

    def identity(self) -> tuple[int, int]:
        """Return which folder it is.

        Raises:
            KbdError: It cannot be looked at.
        """
        with WatchedTree(self._folder) as tree:
            return tree.identity

    def survey(self, watch: Watch, places: list[str] | None, stop: threading.Event) -> ScanResult:
        """Scan for files whose signature is not known.

        Args:
            watch: The watch as the log has it.
            places: Where; None for everywhere.
            stop: Set when nobody waits any more.

        Raises:
            KbdError: The folder cannot be looked at.
        """
        fresh: list[FolderEntry] = []
        remembered: set[str] = set()
        with WatchedTree(self._folder) as tree:
            for place in [""] if places is None else places:
                for count, found in enumerate(tree.walk(place), 1):
                    if stop.is_set():
                        return ScanResult(fresh, None, {})
                    if count % _YIELD_ENTRIES == 0:
                        time.sleep(_YIELD_S)
                    if self._known.knows(watch, found):
                        if self._known.is_remembered(found.path):
                            remembered.add(found.path)
                    elif _may_land(found) and self._patterns.takes(found.path):
                        fresh.append(found)
            unread = tree.unread
        return ScanResult(fresh, None if unread else remembered, unread)

    def examine(
        self, watch: Watch, found: FolderEntry, store: BlobStore
    ) -> RecordLanding | PassOverFiles | FolderEntry | None:
        """Examine a file that has settled, and copy it if it may be new.

        Returns:
            What is to be recorded; or what it looks like, if that changed or is all that did; or
            None if it is gone.

        Raises:
            Unsettled: It is not whole yet.
            KbdError: It cannot be taken.
        """
        with self._opened() as tree:
            now = tree.look(found.raw)
            if now is None or not _may_land(now):
                return None
            if now.signature != found.signature:
                return now
            if self._known.was_passed(watch, tree, now):
                return PassOverFiles(self._watch_id, (PassedFile(now.path, now.signature),))
            file_name(now.raw)
            if self._known.is_touched(watch, tree, now):
                return now
            taken = ingest_file(tree, now.raw, store, self._file_bytes)
            return RecordLanding(
                watch_id=self._watch_id,
                path=now.path,
                folder=self._folder_of(now),
                sha256=taken.sha256,
                size_bytes=taken.size_bytes,
                signature=taken.signature,
                gone=self._known.gone(watch, tree, now, taken),
            )

    def _opened(self) -> WatchedTree:
        """Open the folder for a look at one file, whose fault it is not if that fails."""
        try:
            return WatchedTree(self._folder)
        except KbdError:
            raise Unsettled from None

    def failed(self, found: FolderEntry, error: KbdError) -> RecordLanding:
        """Return what is to be recorded of a file that could not be taken."""
        return RecordLanding(
            watch_id=self._watch_id,
            path=found.path,
            folder=self._folder_of(found),
            sha256="",
            size_bytes=found.size_bytes,
            signature=found.signature,
            code=error.code,
            message=error.message,
        )

    def _folder_of(self, found: FolderEntry) -> str:
        above, slash, _ = found.path.rpartition("/")
        return f"{self._folder}{slash}{above}"


def _may_land(found: FolderEntry) -> bool:
    """Tell whether an entry is a file, be its name text or not."""
    return found.kind == "file" or (found.kind == "special" and found.path != found.raw)


def topmost_paths(places: Iterable[str]) -> Iterable[str]:
    """Leave out the places that are below others: those are looked through whole."""
    kept = set(places)
    for place in sorted(kept):
        above = place
        while above := above.rpartition("/")[0]:
            if above in kept:
                break
        else:
            yield place
