"""Scanner of a watched folder: which files are new, which are whole, what one of them is.

Three parts: a cache of the files that need no event, as the log knows them or as scans saw them;
debouncing, for a file is whole only after it stayed the same for the rule's quiet time; and the
scan, which blocks.

A file whose signature is known is not read. The cache may be called from a thread while the log's
state goes on: single look-ups are safe, and whole tables are copied first. Debouncing is pure: the
time is given, files are looked at by others. A file that somebody holds open, or that cannot be
taken now, is put off; until it changes again nobody else waits for it.
"""

import heapq
import threading
import time
from collections.abc import Iterable

import msgspec

from kbd.core.domain.watch_decisions import PassOverFiles, RecordLanding
from kbd.core.domain.watch_state import Watch
from kbd.core.watch.ingest import Ingested, Unsettled, hash_file, ingest_file
from kbd.core.watch.tree import FolderEntry, NamePatterns, WatchedTree
from kbd.core.workbench.sandbox import file_name
from kbd.errors import FileReadFailed, KbdError
from kbd.events.blobs import BlobStore
from kbd.events.watches import PassedFile, WatchRule
from kbd.types import WatchId

__all__ = ["ScanResult", "Scanner", "SeenFiles", "SettlingFiles", "topmost_paths"]


_MAX_COMPARED_PATHS = 16
"""Of the places where a content landed before, so many are looked at; renamed ones come first."""


class SeenFiles:
    """Cache of one watch's files that need no event."""

    def __init__(self) -> None:
        # Files that turned out to hold what landed before, though they look otherwise.
        self._compared: dict[str, str] = {}
        # Paths of files that were passed over, by inode; made when first asked for.
        self._passed: dict[int, tuple[str, ...]] | None = None

    def knows(self, watch: Watch, found: FolderEntry) -> bool:
        """Return whether a file's signature is the one that landed, was passed over or compared."""
        return (
            watch.signatures.get(found.path) == found.signature
            or self._compared.get(found.path) == found.signature
        )

    def remember(self, found: FolderEntry) -> None:
        """Cache a file's signature as one with nothing new."""
        self._compared[found.path] = found.signature

    def is_remembered(self, path: str) -> bool:
        """Return whether a path is in the cache."""
        return path in self._compared

    def retain(self, paths: set[str]) -> None:
        """Evict all other paths from the cache: they are not there any more."""
        for path in self._compared.keys() - paths:
            del self._compared[path]

    def is_touched(self, watch: Watch, tree: WatchedTree, found: FolderEntry) -> bool:
        """Return whether only a file's metadata changed: its mode, say, or it got a second name.

        Raises:
            FileReadFailed: It cannot be read.
        """
        before = self._compared.get(found.path) or watch.signatures.get(found.path)
        if before is None or not _is_unmodified(before, found.signature):
            return False
        return watch.has_landed(found.path, hash_file(tree, found.raw))

    def was_passed(self, watch: Watch, tree: WatchedTree, found: FolderEntry) -> bool:
        """Return whether this is a file that was passed over, renamed or touched since."""
        if self._passed is None:
            self._passed = _passed_paths(watch)
        paths = self._passed.get(_inode(found.signature), ())
        if not any(
            _is_unmodified(watch.signatures.get(path, ""), found.signature) for path in paths
        ):
            return False
        if found.path in paths or all(_is_gone(tree, path, found.signature) for path in paths):
            self._passed[_inode(found.signature)] = tuple(dict.fromkeys((*paths, found.path)))
            return True
        return False

    def moved_from(
        self, watch: Watch, tree: WatchedTree, found: FolderEntry, taken: Ingested
    ) -> tuple[str, ...]:
        """Return a path under which a content landed before and which does not hold it any more.

        A file that was renamed has the inode that was recorded under its old path, so that one is
        found however often the content is there; a move by copy is found among the newest places.
        """
        before = [path for path in watch.contents.get(taken.sha256, ()) if path != found.path]
        inode = f":{_inode(taken.signature)}"
        renamed = [path for path in before if watch.signatures.get(path, "").endswith(inode)]
        for path in dict.fromkeys((*reversed(renamed), *reversed(before[-_MAX_COMPARED_PATHS:]))):
            if not _has_copy_at(tree, path, taken):
                return (path,)
        return ()


def _has_copy_at(tree: WatchedTree, path: str, taken: Ingested) -> bool:
    """Return whether another file of the same content is at a path; True where in doubt."""
    try:
        there = tree.look(path)
        if there is None or there.kind != "file" or there.size_bytes != taken.size_bytes:
            return False
        if _inode(there.signature) == _inode(taken.signature):
            return False  # One file with two names, or one name in two spellings.
        return hash_file(tree, path) == taken.sha256
    except FileReadFailed:
        return True


def _is_gone(tree: WatchedTree, path: str, signature: str) -> bool:
    """Return whether a file is not at a path any more."""
    try:
        there = tree.look(path)
    except FileReadFailed:
        return False
    return there is None or _inode(there.signature) != _inode(signature)


def _passed_paths(watch: Watch) -> dict[int, tuple[str, ...]]:
    """Return the paths that have a signature though nothing of them landed, by inode."""
    landed = {path for paths in watch.contents.copy().values() for path in paths}
    landed.update(landing.path for landing in watch.landings.copy().values())
    passed: dict[int, tuple[str, ...]] = {}
    for path, signature in watch.signatures.copy().items():
        if path not in landed:
            inode = _inode(signature)
            passed[inode] = (*passed.get(inode, ()), path)
    return passed


def _inode(signature: str) -> int:
    return int(signature.rpartition(":")[2])


def _is_unmodified(one: str, other: str) -> bool:
    """Return whether two signatures differ at most in ctime: when name, mode or owner changed."""
    return _without_ctime(one) == _without_ctime(other)


def _without_ctime(signature: str) -> tuple[str, ...]:
    size, _, rest = signature.partition(":")
    modified, _, rest = rest.partition(":")
    return (size, modified, rest.partition(":")[2])


class _Candidate(msgspec.Struct):
    """A file that may become whole.

    Args:
        found: What it looked like last.
        due_s: When it is to be looked at again.
        tries: How often it was put off since it changed.
    """

    found: FolderEntry
    due_s: float
    tries: int = 0


class SettlingFiles:
    """Files of one watch that are not whole yet, by their raw path.

    Args:
        quiet_s: So long a file must stay the same.
    """

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self._candidates: dict[str, _Candidate] = {}
        # What was true when it was entered: an entry whose time is not its candidate's is void.
        self._queue: list[tuple[float, str]] = []
        # When those are due that changed lately and were not put off, the last changed one last.
        self._lately: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._candidates)

    def update(self, found: FolderEntry, now_s: float) -> None:
        """Update a file's signature; its quiet time begins anew if that changed."""
        known = self._candidates.get(found.raw)
        if known is None or known.found.signature != found.signature:
            self._enter(_Candidate(found, now_s + self._quiet_s))
            self._lately[found.raw] = now_s + self._quiet_s

    def postpone(self, raw: str, due_s: float) -> int:
        """Postpone the next check of a file that did not change.

        Returns:
            How often that was done since it changed.
        """
        known = self._candidates.get(raw)
        if known is None:
            return 0
        self._enter(_Candidate(known.found, due_s, known.tries + 1))
        return known.tries + 1

    def forget(self, raw: str) -> None:
        """Remove a file: it was ingested, or is gone."""
        self._candidates.pop(raw, None)
        self._lately.pop(raw, None)

    def clear(self) -> None:
        """Remove all files."""
        self._candidates.clear()
        self._queue.clear()
        self._lately.clear()

    def due(self, now_s: float, most: int) -> list[FolderEntry]:
        """Return files whose time has come, at most so many, the longest due first.

        Each stays, and is returned again, until it is forgotten, put off or seen changed.
        """
        taken: list[tuple[float, str]] = []
        while self._queue and self._queue[0][0] <= now_s and len(taken) < most:
            entry = heapq.heappop(self._queue)
            if self._is_valid(entry):
                taken.append(entry)
        for entry in taken:
            heapq.heappush(self._queue, entry)
        return [self._candidates[raw].found for _, raw in taken]

    @property
    def next_s(self) -> float | None:
        """When the next file is due; None if there is none."""
        while self._queue and not self._is_valid(self._queue[0]):
            heapq.heappop(self._queue)
        return self._queue[0][0] if self._queue else None

    @property
    def last_s(self) -> float | None:
        """When the last file that changed lately is due, put-off ones apart; None if none did."""
        return next(reversed(self._lately.values()), None)

    def _enter(self, candidate: _Candidate) -> None:
        raw = candidate.found.raw
        self._candidates[raw] = candidate
        self._lately.pop(raw, None)
        # The entry before it stays and is void: a heap cannot find one in its middle.
        heapq.heappush(self._queue, (candidate.due_s, raw))

    def _is_valid(self, entry: tuple[float, str]) -> bool:
        known = self._candidates.get(entry[1])
        return known is not None and known.due_s == entry[0]


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

    def scan(self, watch: Watch, places: list[str] | None, stop: threading.Event) -> ScanResult:
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
        with self._open_tree() as tree:
            now = tree.look(found.raw)
            if now is None or not _may_land(now):
                return None
            # Another one than the one that settled: its quiet time begins anew.
            if now.signature != found.signature:
                return now
            if self._known.was_passed(watch, tree, now):
                return PassOverFiles(self._watch_id, (PassedFile(now.path, now.signature),))
            # Asked before the copy: what no workbench can name is recorded as failed, unread.
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
                gone=self._known.moved_from(watch, tree, now, taken),
            )

    def _open_tree(self) -> WatchedTree:
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
    """Return whether an entry is a file, also if its name is no text."""
    return found.kind == "file" or (found.kind == "special" and found.path != found.raw)


def topmost_paths(places: Iterable[str]) -> Iterable[str]:
    """Yield the paths that are not below others: those are scanned whole."""
    all_places = set(places)
    for place in sorted(all_places):
        above = place
        while above := above.rpartition("/")[0]:
            if above in all_places:
                break
        else:
            yield place
