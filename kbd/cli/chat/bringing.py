"""A folder's files become the files of the workbench that belongs to it.

The workbench is found by its name, which is the folder's path. What is new in the folder is added,
what changed there takes the place of what came from there before. What kbd made in the workbench is
never overwritten by the folder, and nothing is ever written in the folder.
"""

import hashlib
import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kbd.cli.chat.arrivals import Arrivals, Held, held, made
from kbd.cli.chat.folder_scan import walk
from kbd.cli.chat.session import Folder, Session
from kbd.cli.link import call
from kbd.cli.terminal import clean, counted, line, note, size
from kbd.client.blocking import Client

__all__ = ["bring", "find_or_make", "folder_of", "name_of"]

NAME_CHARACTERS = 200
"""The longest name of a workbench."""

BATCH = 25
"""Files in one request: so that a person sees that a large folder is on its way."""

SHOWN = 8
"""How many skipped files are named; `--verbose` names all."""


def name_of(folder: Path) -> str:
    """Return the name of the workbench that belongs to a folder: its path.

    A path that is too long for a name, or holds what no name should, is cut and marked with a hash.
    """
    path = str(folder)
    if path.isprintable() and len(path) <= NAME_CHARACTERS:
        return path
    mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return f"…{line(clean(path)[-150:])} {mark}"


def folder_of(name: str) -> Path | None:
    """Return the folder that the workbench of this name belongs to, if there is such a folder."""
    folder = Path(name)
    is_one = folder.is_absolute() and os.path.isdir(folder) and folder.resolve() == folder
    return folder if is_one and name_of(folder) == name else None


def find_or_make(client: Client, folder: Path) -> dict[str, Any]:
    """Return the workbench that belongs to a folder: the newest of its name, or a new one."""
    name = name_of(folder)
    workbenches = call(client, "WorkbenchList")["workbenches"]
    # The list begins with the oldest; `/clear` makes another one of the same name.
    found = [each for each in workbenches if each["name"] == name]
    if found:
        return dict(found[-1])
    made_id = str(call(client, "WorkbenchCreate", {"name": name})["workbench_id"])
    return {"id": made_id, "name": name}


def bring(session: Session, folder: Folder) -> None:
    """Add what is new in the folder, replace what changed there, and tell what was left out."""
    client, workbench_id = session.client, session.workbench_id
    scope = session.ask("WorkbenchGetScope")
    endings = frozenset(scope["supported_types"]["readable_extensions"])
    found = walk(folder.path, folder.left_out, endings)
    arrivals = Arrivals(client, workbench_id)
    limits = scope["limits"]
    sorted_out = _Sorted(arrivals, held(client, workbench_id), int(limits["max_file_bytes"]))
    for path in found.files:
        sorted_out.look_at(path)
    room = int(limits["max_files"]) - len(sorted_out.taken)
    skipped = [*found.skipped, *_named(sorted_out.skipped, folder.path)]
    new = sorted_out.new[: max(room, 0)]
    skipped += [
        (_below(path, folder.path), f"a workbench holds {limits['max_files']} files")
        for path in sorted_out.new[len(new) :]
    ]
    if sorted_out.changed:
        names = [name for name, _ in sorted_out.changed]
        session.ask("WorkbenchFilesRemove", workbench_paths=names, slow=True)
    replaced = [path for _, path in sorted_out.changed]
    not_replaced, not_added = _add(session, replaced), _add(session, new)
    skipped += _named([*not_replaced, *not_added], folder.path)
    here = {_folded(path.name) for path in found.files}
    gone = [
        name
        for name, source in arrivals.names_from(folder.path)
        if _folded(name) in sorted_out.taken and _folded(source.name) not in here
    ]
    added, renewed = len(new) - len(not_added), len(replaced) - len(not_replaced)
    _tell(session, added, renewed, skipped, gone)


class _Sorted:
    """A folder's files, sorted by what is to be done with each.

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

    def __init__(self, arrivals: Arrivals, now: Held, most_bytes: int) -> None:
        self.now = now
        self._most_bytes = most_bytes
        self.taken = {_folded(name): name for name in (*now.published, *now.drafted)}
        self.new: list[Path] = []
        self.changed: list[tuple[str, Path]] = []
        self.skipped: list[tuple[Path, str]] = []
        self._arrivals = arrivals
        self._made = {now.published[name]: name for name in made(arrivals, now)}
        self._seen: dict[str, Path] = {}

    def look_at(self, path: Path) -> None:
        """Sort one file."""
        folded = _folded(path.name)
        if folded in self._seen:
            reason = f"{self._seen[folded].name} is there already: names must differ"
            self.skipped.append((path, reason))
            return
        self._seen[folded] = path
        try:
            reason = self._why_not(path)
            if not reason:
                self._sort(path, self.taken.get(folded))
        except OSError as error:
            reason = str(error.strerror or error)
        if reason:
            self.skipped.append((path, reason))

    def _why_not(self, path: Path) -> str:
        """Return why the daemon would not take a file; what it replaces would be gone by then."""
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
            if content in self._made:
                self.skipped.append((path, f"it is {self._made[content]} of the workbench"))
            else:
                self.new.append(path)
            return
        present = self.now.published.get(name)
        is_as_it_came = present is not None and self._arrivals.came(name, present)
        if content == present or (content == self._arrivals.last(name) and not is_as_it_came):
            return
        if self.now.has_draft:
            self.skipped.append((path, "it changed; /publish or /discard the draft, then /reload"))
        elif is_as_it_came:
            self.changed.append((name, path))
        else:
            self.skipped.append((path, "it changed here, and what you published stays there"))


def _add(session: Session, paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Add files and return those that were not, with the reason."""
    skipped: list[tuple[Path, str]] = []
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        if len(paths) > BATCH:
            note(f"Copying {start + 1} to {start + len(batch)} of {len(paths)} files…")
        sources = [str(path) for path in batch]
        results = session.ask("WorkbenchFilesAdd", source_paths=sources, slow=True)["add_results"]
        skipped += [
            (path, str(each.get("reason", "no reason given")))
            for path, each in zip(batch, results, strict=True)
            if each["status"] == "skipped"
        ]
    return skipped


def _tell(
    session: Session, new: int, replaced: int, skipped: list[tuple[str, str]], gone: list[str]
) -> None:
    told = [f"{counted(new, 'file')} added"] if new else []
    told += [f"{counted(replaced, 'file')} brought up to date"] if replaced else []
    if told:
        note(f"{' and '.join(told)} from {session.label}/; your files are copied, never written.")
    shown = skipped if session.is_verbose else skipped[:SHOWN]
    for name, reason in shown:
        note(f"  left out: {line(name, 60)} ({line(reason)})")
    if len(shown) < len(skipped):
        note(f"  and {len(skipped) - len(shown)} more; --verbose names all.")
    for name in gone:
        note(f"  {line(name, 60)} is not in the folder any more, but still in the workbench.")


def _named(skipped: Sequence[tuple[Path, str]], folder: Path) -> list[tuple[str, str]]:
    return [(_below(path, folder), reason) for path, reason in skipped]


def _below(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))


def _folded(name: str) -> str:
    """Return a name as the daemon compares names: without case, composed (Unicode NFC)."""
    return unicodedata.normalize("NFC", name).casefold()
