"""One-way synchronization of a folder's files into the workbench that belongs to it.

The workbench is found by its name, which is the folder's path. What is new in the folder is added,
what changed there takes the place of what came from there before; the workbench's log tells what
came in from outside, and what kbd made since. What kbd made is never overwritten by the folder, and
nothing is ever written in the folder. Files that are left out are named, with the reason.
"""

import hashlib
import os
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kbd.cli.chat.session import ChatFolder, ChatSession
from kbd.cli.exits import FAILED, RequestRefused, Stop
from kbd.cli.link import call
from kbd.cli.log_reader import read_events
from kbd.cli.terminal import clean, counted, line, note, size
from kbd.client.blocking import Client

__all__ = [
    "FolderFiles",
    "ImportHistory",
    "WorkbenchFiles",
    "find_or_create",
    "hash_file",
    "import_folder",
    "made_by_kbd",
    "read_workbench_files",
    "walk_folder",
    "workbench_folder",
    "workbench_name",
]


class _Import(NamedTuple):
    blob: str
    size_bytes: int
    modified_at_us: int
    source_path: str


class ImportHistory:
    """History of every content that was copied in, by the file's name.

    Those of the workbenches that it was forked from count, too, unless they are gone.
    """

    def __init__(self, client: Client, workbench_id: str) -> None:
        self._came: dict[str, list[_Import]] = {}
        # The oldest workbench first, so that what came in last stands last.
        for each in reversed(_ancestry(client, workbench_id)):
            self._read(client, each)

    def _read(self, client: Client, workbench_id: str) -> None:
        for event in read_events(client, workbench_id, 0):
            data = event["data"]
            # What a fork took over came from nowhere outside.
            if event["type"] == "FileAdded" and data.get("source_path"):
                arrival = _Import(
                    str(data["blob"]),
                    int(data["size_bytes"]),
                    int(data.get("modified_at_us", 0)),
                    str(data["source_path"]),
                )
                self._came.setdefault(str(data["name"]), []).append(arrival)

    def was_imported(self, name: str, blob: str) -> bool:
        """Return whether a file of this name was once imported with this content."""
        return any(each.blob == blob for each in self._came.get(name, ()))

    def last(self, name: str) -> str:
        """Return the content with which a file of this name came in last, or ""."""
        return self._came[name][-1].blob if name in self._came else ""

    def content(self, name: str, path: Path) -> str:
        """Return the hash of a file, which is not read if it is as it was when it came in.

        Raises:
            OSError: It cannot be read.
        """
        found = path.stat()
        for each in self._came.get(name, ()):
            # The log has microseconds.
            if (each.size_bytes, each.modified_at_us, each.source_path) == (
                found.st_size,
                found.st_mtime_ns // 1000,
                str(path),
            ):
                return each.blob
        return hash_file(path)

    def names_from(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the names that came from a folder last, each with where it was."""
        for name, came in self._came.items():
            source = Path(came[-1].source_path)
            if folder in source.parents:
                yield name, source


def _ancestry(client: Client, workbench_id: str) -> list[str]:
    """Return a workbench and those that it was forked from, itself first."""
    line = [workbench_id]
    while True:
        try:
            opened = call(client, "WorkbenchOpen", {"workbench_id": line[-1]})["workbench"]
        except RequestRefused:
            return line[:-1]  # deleted
        parent = str(opened.get("parent_workbench_id", ""))
        if not parent or parent in line:
            return line
        line.append(parent)


class WorkbenchFiles(NamedTuple):
    """Files that a workbench holds.

    Args:
        published: The hash of each file by its name.
        drafted: The files that the draft changes; what is published of them is not told.
        has_draft: Whether there is a draft, be it an empty one.
    """

    published: dict[str, str]
    drafted: frozenset[str]
    has_draft: bool


def read_workbench_files(client: Client, workbench_id: str) -> WorkbenchFiles:
    """Return what a workbench holds now."""
    named = {"workbench_id": workbench_id}
    seq = call(client, "LogHead", named)["seq"]
    state = call(client, "StateAt", {**named, "seq": seq}, slow=True)
    files = state["files"]
    published = {str(each["path"]): each for each in files if each["state"] == "published"}
    return WorkbenchFiles(
        {name: str(each["hash"]) for name, each in published.items()},
        frozenset(str(each["path"]) for each in files) - published.keys(),
        bool(state.get("draft_id")),
    )


def made_by_kbd(arrivals: ImportHistory, now: WorkbenchFiles) -> list[str]:
    """Return the published files whose content did not come from outside: kbd made it."""
    return [name for name, blob in now.published.items() if not arrivals.was_imported(name, blob)]


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hex.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


MAX_ENTRIES = 20_000
"""A folder with more in it is somebody's whole disk, not what a conversation is about."""

UNREADABLE = "no installed format reads this type of file"


class FolderFiles(NamedTuple):
    """Files that a folder holds.

    Args:
        files: What can be read, nearest to the top first, then by name.
        skipped: What is left out, by its path in the folder, with the reason.
    """

    files: tuple[Path, ...]
    skipped: tuple[tuple[str, str], ...]


def walk_folder(folder: Path, left_out: Collection[Path], endings: Collection[str]) -> FolderFiles:
    """Walk a folder and all below it; what is hidden, or an index, is skipped silently.

    Args:
        folder: Where to look.
        left_out: Folders not to look into.
        endings: How the names of readable files end, in small letters; or the whole name.

    Raises:
        Stop: It cannot be looked into, or there is too much in it.
    """
    files: list[Path] = []
    skipped: list[tuple[str, str]] = []
    for path in _walk_entries(folder, frozenset(left_out)):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            skipped.append((name, "a link"))
        elif not path.is_file():
            skipped.append((name, "not a regular file"))
        elif not _is_readable(path.name, endings):
            skipped.append((name, UNREADABLE))
        else:
            files.append(path)
    files.sort(key=lambda path: (len(path.parts), str(path)))
    return FolderFiles(tuple(files), tuple(sorted(skipped)))


def _walk_entries(folder: Path, left_out: frozenset[Path]) -> Iterator[Path]:
    """Yield everything in a folder that is no folder and not hidden; links are not followed."""
    seen = 0

    def fail(error: OSError) -> None:
        # A folder below that cannot be looked into is passed over.
        if error.filename == str(folder):
            raise Stop(f"{folder} cannot be looked into: {error.strerror}", FAILED)

    for place, folders, names in os.walk(folder, onerror=fail):
        here = Path(place)
        if _is_index(names):
            folders.clear()
            continue
        folders[:] = sorted(
            each for each in folders if not each.startswith(".") and here / each not in left_out
        )
        seen += len(folders) + len(names)
        if seen > MAX_ENTRIES:
            msg = (
                f"{folder} holds more than {MAX_ENTRIES:,} files and folders: name one with what "
                "the conversation is about, or make a workbench (`kbd wb new`)"
            )
            raise Stop(msg, FAILED)
        for name in names:
            # "~$" begins the lock that an office program keeps beside an open file.
            if not name.startswith((".", "~$")):
                yield here / name


def _is_index(names: Collection[str]) -> bool:
    """Whether this is a folder of an index, of this workbench or any other.

    As `kbd.core.search.index_file` has it, told twice so that a client does not import the core.
    """
    return "search.lock" in names and all(
        name.startswith(("search-", "search.", "pieces-")) for name in names
    )


def _is_readable(name: str, endings: Collection[str]) -> bool:
    last = name.casefold()
    # An ending may have several dots.
    return last in endings or any(
        last[place:] in endings for place, letter in enumerate(last) if letter == "."
    )


NAME_CHARACTERS = 200
"""The longest name of a workbench."""

BATCH_FILES = 25
"""Files in one request: so that a person sees that a large folder is on its way."""

MAX_SHOWN = 8
"""How many skipped files are named; `--verbose` names all."""


def workbench_name(folder: Path) -> str:
    """Return the name of the workbench that belongs to a folder: its path.

    A path that is too long for a name, or holds what no name should, is cut and marked with a hash.
    """
    path = str(folder)
    if path.isprintable() and len(path) <= NAME_CHARACTERS:
        return path
    mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    # The end of a path tells more than its beginning.
    return f"…{line(clean(path)[-150:])} {mark}"


def workbench_folder(name: str) -> Path | None:
    """Return the folder that the workbench of this name belongs to, if there is such a folder."""
    folder = Path(name)
    is_one = folder.is_absolute() and os.path.isdir(folder) and folder.resolve() == folder
    return folder if is_one and workbench_name(folder) == name else None


def find_or_create(client: Client, folder: Path) -> dict[str, Any]:
    """Return the workbench that belongs to a folder: the newest of its name, or a new one."""
    name = workbench_name(folder)
    # The newest first; `/clear` makes another one of the same name.
    asked = {"named": name, "descending": True, "limit": 1}
    found = call(client, "WorkbenchList", asked)["workbenches"]
    if found and found[0]["name"] == name:
        return dict(found[0])
    made_id = str(call(client, "WorkbenchCreate", {"name": name})["workbench_id"])
    return {"id": made_id, "name": name}


def import_folder(session: ChatSession, folder: ChatFolder) -> None:
    """Import the folder: add new files, replace changed ones, report those left out."""
    client, workbench_id = session.client, session.workbench_id
    scope = session.ask("WorkbenchGetScope")
    endings = frozenset(scope["supported_types"]["readable_extensions"])
    found = walk_folder(folder.path, folder.left_out, endings)
    arrivals = ImportHistory(client, workbench_id)
    limits = scope["limits"]
    sorted_out = _ImportPlan(
        arrivals, read_workbench_files(client, workbench_id), int(limits["max_file_bytes"])
    )
    for path in found.files:
        sorted_out.classify(path)
    room = int(limits["max_files"]) - len(sorted_out.taken)
    skipped = [*found.skipped, *_relative_names(sorted_out.skipped, folder.path)]
    new = sorted_out.new[: max(room, 0)]
    skipped += [
        (_relative_path(path, folder.path), f"a workbench holds {limits['max_files']} files")
        for path in sorted_out.new[len(new) :]
    ]
    if sorted_out.changed:
        names = [name for name, _ in sorted_out.changed]
        # Removed first: the daemon adds no file whose name is taken.
        session.ask("WorkbenchFilesRemove", workbench_paths=names, slow=True)
    replaced = [path for _, path in sorted_out.changed]
    not_replaced, not_added = _add_files(session, replaced), _add_files(session, new)
    skipped += _relative_names([*not_replaced, *not_added], folder.path)
    here = {_fold_name(path.name) for path in found.files}
    missing = [
        name
        for name, source in arrivals.names_from(folder.path)
        if _fold_name(name) in sorted_out.taken and _fold_name(source.name) not in here
    ]
    added, renewed = len(new) - len(not_added), len(replaced) - len(not_replaced)
    _report_import(session, added, renewed, skipped, missing)


class _ImportPlan:
    """Files of a folder, sorted by what is to be done with each.

    Attributes:
        now: What the workbench holds.
        taken: The names there, folded.
        new: What is to be added.
        changed: What is to take the place of the file of this name.
        skipped: What is left as it is although it differs, with the reason.

    Args:
        arrivals: What came in before.
        now: What the workbench holds.
        most_bytes: The largest file that a workbench takes.
    """

    def __init__(self, arrivals: ImportHistory, now: WorkbenchFiles, most_bytes: int) -> None:
        self.now = now
        self._most_bytes = most_bytes
        self.taken = {_fold_name(name): name for name in (*now.published, *now.drafted)}
        self.new: list[Path] = []
        self.changed: list[tuple[str, Path]] = []
        self.skipped: list[tuple[Path, str]] = []
        self._arrivals = arrivals
        self._made_by_kbd = {now.published[name]: name for name in made_by_kbd(arrivals, now)}
        self._seen: dict[str, Path] = {}

    def classify(self, path: Path) -> None:
        """Sort one file."""
        folded = _fold_name(path.name)
        if folded in self._seen:
            reason = f"{self._seen[folded].name} is there already: names must differ"
            self.skipped.append((path, reason))
            return
        self._seen[folded] = path
        try:
            reason = self._rejection_reason(path)
            if not reason:
                self._sort(path, self.taken.get(folded))
        except OSError as error:
            reason = str(error.strerror or error)
        if reason:
            self.skipped.append((path, reason))

    def _rejection_reason(self, path: Path) -> str:
        """Return why the daemon would reject a file: known before the old version is removed."""
        if path.stat().st_size > self._most_bytes:
            return f"larger than {size(self._most_bytes)}"
        try:
            str(path).encode()
        except UnicodeEncodeError:
            return "its name is not UTF-8"
        return ""

    def _sort(self, path: Path, name: str | None) -> None:
        content = self._arrivals.content(name or path.name, path)
        if name is None:
            if content in self._made_by_kbd:
                self.skipped.append((path, f"it is {self._made_by_kbd[content]} of the workbench"))
            else:
                self.new.append(path)
            return
        present = self.now.published.get(name)
        is_as_it_came = present is not None and self._arrivals.was_imported(name, present)
        # Nothing is new in the folder: the workbench has the same, or what kbd made of it since.
        if content == present or (content == self._arrivals.last(name) and not is_as_it_came):
            return
        if self.now.has_draft:
            self.skipped.append((path, "it changed; /publish or /discard the draft, then /reload"))
        elif is_as_it_came:
            self.changed.append((name, path))
        else:
            self.skipped.append((path, "it changed here, and what you published stays there"))


def _add_files(session: ChatSession, paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Add files and return those that were not, with the reason."""
    skipped: list[tuple[Path, str]] = []
    for start in range(0, len(paths), BATCH_FILES):
        batch = paths[start : start + BATCH_FILES]
        if len(paths) > BATCH_FILES:
            note(f"Copying {start + 1} to {start + len(batch)} of {len(paths)} files…")
        sources = [str(path) for path in batch]
        results = session.ask("WorkbenchFilesAdd", source_paths=sources, slow=True)["add_results"]
        skipped += [
            (path, str(each.get("reason", "no reason given")))
            for path, each in zip(batch, results, strict=True)
            if each["status"] == "skipped"
        ]
    return skipped


def _report_import(
    session: ChatSession,
    new: int,
    replaced: int,
    skipped: list[tuple[str, str]],
    missing: list[str],
) -> None:
    parts = [f"{counted(new, 'file')} added"] if new else []
    parts += [f"{counted(replaced, 'file')} brought up to date"] if replaced else []
    if parts:
        note(f"{' and '.join(parts)} from {session.label}/; your files are copied, never written.")
    shown = skipped if session.is_verbose else skipped[:MAX_SHOWN]
    for name, reason in shown:
        note(f"  left out: {line(name, 60)} ({line(reason)})")
    if len(shown) < len(skipped):
        note(f"  and {len(skipped) - len(shown)} more; --verbose names all.")
    for name in missing:
        note(f"  {line(name, 60)} is not in the folder any more, but still in the workbench.")


def _relative_names(skipped: Sequence[tuple[Path, str]], folder: Path) -> list[tuple[str, str]]:
    return [(_relative_path(path, folder), reason) for path, reason in skipped]


def _relative_path(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))


def _fold_name(name: str) -> str:
    """Return a name as the daemon compares names: without case, composed (Unicode NFC)."""
    return unicodedata.normalize("NFC", name).casefold()
