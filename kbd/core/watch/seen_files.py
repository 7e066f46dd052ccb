"""Cache of a watch's files that need no event: as the log knows them, or as scans saw them.

A file whose signature is known is not read. Everything here may be called from a thread while the
log's state goes on: single look-ups are safe, and whole tables are copied first.
"""

from kbd.core.domain.watch_state import Watch
from kbd.core.watch.ingest import Ingested, hash_file
from kbd.core.watch.tree import FolderEntry, WatchedTree
from kbd.errors import FileReadFailed

__all__ = ["SeenFiles"]

_MAX_COMPARED_PATHS = 16
"""Of the places where a content landed before, so many are looked at; renamed ones come first."""


class SeenFiles:
    """Cache of one watch's files that need no event."""

    def __init__(self) -> None:
        # Files that turned out to hold what landed before, though they look otherwise.
        self._looked: dict[str, str] = {}
        # Paths of files that were passed over, by inode; made when first asked for.
        self._passed: dict[int, tuple[str, ...]] | None = None

    def knows(self, watch: Watch, found: FolderEntry) -> bool:
        """Tell whether a file looks as it did when it landed, was passed over or looked at."""
        return (
            watch.signatures.get(found.path) == found.signature
            or self._looked.get(found.path) == found.signature
        )

    def remember(self, found: FolderEntry) -> None:
        """Note that a file holds nothing new as it looks now."""
        self._looked[found.path] = found.signature

    def is_remembered(self, path: str) -> bool:
        """Tell whether anything was noted about a path."""
        return path in self._looked

    def keep_only(self, paths: set[str]) -> None:
        """Forget all other paths: they are not there any more."""
        for path in self._looked.keys() - paths:
            del self._looked[path]

    def is_touched(self, watch: Watch, tree: WatchedTree, found: FolderEntry) -> bool:
        """Tell whether a file only looks otherwise: its mode changed, say, or it got a second name.

        Raises:
            FileReadFailed: It cannot be read.
        """
        before = self._looked.get(found.path) or watch.signatures.get(found.path)
        if before is None or not _is_unmodified(before, found.signature):
            return False
        return watch.has_landed(found.path, hash_file(tree, found.raw))

    def was_passed(self, watch: Watch, tree: WatchedTree, found: FolderEntry) -> bool:
        """Tell whether this is a file that was passed over, renamed or touched since."""
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

    def gone(
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
    """Tell whether another file of the same content is at a path; where in doubt, it is."""
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
    """Tell whether a file is not at a path any more."""
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
    """Tell whether two signatures differ at most in when name, mode or owner changed."""
    return _without_ctime(one) == _without_ctime(other)


def _without_ctime(signature: str) -> tuple[str, ...]:
    size, _, rest = signature.partition(":")
    modified, _, rest = rest.partition(":")
    return (size, modified, rest.partition(":")[2])
