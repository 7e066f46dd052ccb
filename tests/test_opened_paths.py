"""What is opened by a path in the daemon is its own; a client's path has one way in.

`kbd.core.runtime.held_folder` opens what a client names, and what lies below it. Everything else
that goes by a path, in the rooms of `kbd/core/` to which clients' paths come, is counted here with
the reason why that path is nobody else's. A call that is added there fails the test: open a
client's path by `open_source`, `resolve_destination`, `hold_destination` or `ConfinedRoot`.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parent.parent

OF_OS = frozenset(
    {
        "open", "rename", "replace", "link", "symlink", "mkdir", "makedirs", "unlink", "remove",
        "rmdir", "mknod", "mkfifo", "truncate", "chmod", "chown", "lchown", "utime", "setxattr",
        "listdir", "scandir", "walk", "fwalk", "readlink", "chdir",
    }
)  # fmt: skip
OF_SHUTIL = frozenset(
    {
        "copy", "copy2", "copyfile", "copytree", "move", "rmtree", "chown", "make_archive",
        "unpack_archive",
    }
)  # fmt: skip
OF_PATHS = frozenset(
    {
        "read_bytes", "read_text", "write_bytes", "write_text", "touch", "symlink_to",
        "hardlink_to", "mkdir", "unlink", "rename", "rmdir", "chmod", "lchmod", "iterdir", "glob",
        "rglob", "readlink",
    }
)  # fmt: skip
OF_OTHERS = frozenset({"ZipFile", "TarFile"})
"""What libraries open by a path."""

MODULES = frozenset({"os", "shutil"})

_HOME = "its own files in the home, by paths made of the home's and of ids"
_SCRATCH = "a scratch folder of its own, 0700 and made for this call"
_SHIPPED = "files that come with kbd"
_NAMED = "the command line's own: who typed the path owns the process"
_BACKUP = "the home, and a new folder that is held by its descriptor"
_LIBRARY = "a search's index, which SQLite opens by its path: docs/explanation/paths.md says so"
_DESCRIPTOR = "what is open already: `open` is given a descriptor"
_SETTINGS = "a path in the settings file, which is the user's own"
_SYSTEM = "what the system tells of processes and mounts"
_HELD = "the one way in"

NO_CLIENTS = frozenset({"agent", "domain", "gateway", "plugins", "store"})
"""Rooms to which no path of a client comes: their files are blobs by their hashes, the home's by
names of their own, and what is shipped or installed."""

BY_PATH = MappingProxyType(
    {
        _HELD: {
            "runtime/held_folder.py": 5,
            "workbench/sandbox.py": 1,  # the root itself, which it holds from then on
        },
        _DESCRIPTOR: {
            "audit/whole_paths.py": 3,
            "runtime/folder_trees.py": 6,
            "watch/ingest.py": 1,
            "watch/tree.py": 1,
            "workbench/extraction.py": 3,
            "workbench/sandbox.py": 1,
        },
        _HOME: {
            "api/copies.py": 1,
            "api/files.py": 1,
            "api/traces.py": 5,
            "audit/backup.py": 2,
            "audit/differences.py": 3,
            "audit/home_repair.py": 5,
            "audit/scrub_main.py": 1,
            "home_index/database.py": 1,
            "runtime/folder_trees.py": 2,
            "runtime/home_lock.py": 2,
            "runtime/log_file.py": 3,
            "runtime/own_output.py": 2,
            "runtime/paths.py": 4,
            "runtime/private_files.py": 4,
            "runtime/settings.py": 1,
            "server/listener.py": 3,
            "sessions/fork.py": 5,
            "sessions/receipts.py": 5,
            "sessions/recovery.py": 2,
            "sessions/search_access.py": 3,
            "watch/ingest.py": 2,
            "workbench/active_content.py": 1,
            "workbench/call_files.py": 2,
            "workbench/file_store.py": 7,
            "workbench/rows.py": 1,
            "workbench/transaction.py": 4,
        },
        _BACKUP: {
            "audit/backup.py": 1,
            "audit/backup_contents.py": 14,
            "audit/backup_inventory.py": 2,
            "audit/moment_folder.py": 2,
            "audit/restore.py": 4,
        },
        _SCRATCH: {
            "audit/plugin_replacement.py": 7,
            "audit/proof.py": 3,
            "audit/proof_main.py": 1,
            "audit/proof_process.py": 2,
            "runtime/folder_trees.py": 4,
        },
        _SHIPPED: {
            "audit/html/assets.py": 1,
            "audit/receipt_folder.py": 3,
        },
        _SYSTEM: {
            "metrics/process_figures.py": 3,
            "runtime/held_folder.py": 2,
            "runtime/process_tree.py": 2,
            "watch/hints.py": 1,
        },
        _SETTINGS: {"api/metrics.py": 3},
        _NAMED: {
            "audit/archive_repair.py": 5,
            "audit/case_file.py": 4,
            "audit/home_repair.py": 2,
            "audit/receipt_check/files.py": 4,
            "audit/receipt_check/packages.py": 1,
            "audit/receipt_check/report.py": 2,
            "audit/receipt_check/shelf.py": 2,
            "audit/verify/command.py": 1,
            "audit/verify/unpacking.py": 4,
        },
        _LIBRARY: {"search/folder.py": 2, "search/index.py": 1, "search/index_file.py": 8},
    }
)
"""How many calls by a path a module makes, and whose paths these are."""

RESOLVED = MappingProxyType(
    {
        "where the system cannot be asked for the path of what is held": {
            "runtime/held_folder.py": 1
        },
        _LIBRARY: {"search/folder.py": 4, "search/index_file.py": 1},
    }
)
"""How often a module resolves links in a path by itself, and why that is no check of a write."""


def _by_path(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each call that goes by a path, not by the descriptor of a folder."""
    below = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and any(word.arg in ("dir_fd", "src_dir_fd") for word in node.keywords)
    }
    for node in ast.walk(tree):
        if id(node) in below or not isinstance(node, ast.expr | ast.stmt):
            continue
        if _names_a_way(node) or _opens(node):
            yield node.lineno


def _names_a_way(node: ast.AST) -> bool:
    """Tell whether a node names a function that takes a path, whoever calls it."""
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr=name):
            return name in OF_OS
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
            return name in OF_SHUTIL
        case ast.Attribute(attr=name):
            return name in OF_PATHS | OF_OTHERS
        case ast.Name(id=name):
            return name in OF_OTHERS
        case ast.ImportFrom(module="os" | "shutil", names=names):
            # Under its bare name a call would not be seen.
            return any(each.name in OF_OS | OF_SHUTIL for each in names)
        case _:
            return False


def _opens(node: ast.AST) -> bool:
    """Tell whether a node is a call that opens or replaces, by a name that others have as well."""
    match node:
        case ast.Call(func=ast.Name(id="open")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="io"), attr="open")):
            return True
        case ast.Call(func=ast.Attribute(attr="open"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str(mode)), *_]):
            return set(mode) <= set("rwxab+t")
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="structs"), attr="replace")):
            return False
        # A text's `replace` has two arguments; `os.replace` was named above.
        case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
            return True
        case _:
            return False


def _resolved(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each place where links in a path are resolved by a walk of Python's."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(attr="realpath")
                | ast.Name(id="realpath")
                | ast.Call(func=ast.Attribute(attr="resolve"), args=[])
            ):
                yield node.lineno
            case _:
                pass


@cache
def _modules() -> tuple[tuple[str, ast.Module], ...]:
    core = ROOT / "kbd" / "core"
    return tuple(
        (str(path.relative_to(core)), ast.parse(path.read_text("utf-8")))
        for path in sorted(core.rglob("*.py"))
        if path.relative_to(core).parts[0] not in NO_CLIENTS
    )


def test_nothing_else_is_opened_by_a_path() -> None:
    """Each call is one of those that are counted here; none is counted that is gone."""
    found = Counter({name: len(list(_by_path(tree))) for name, tree in _modules()})
    told: Counter[str] = Counter()
    for counts in BY_PATH.values():
        told.update(counts)
    assert +found == told


def test_links_are_resolved_in_one_place() -> None:
    """`realpath` before a write is a check that a swap of links gets around (reliability 0)."""
    found = {name: len(list(_resolved(tree))) for name, tree in _modules()}
    told = {name: count for counts in RESOLVED.values() for name, count in counts.items()}
    assert {name: count for name, count in found.items() if count} == told


def test_the_rule_sees_what_it_is_for() -> None:
    """Each way to open, make, move or remove by a path counts; one by a descriptor does not."""
    by_path = (
        "open(source)", "os.open(path, flags)", "source.open('rb')", "Path(p).read_bytes()",
        "shutil.copyfile(a, b)", "os.link(a, b)", "run_sync(os.makedirs, real)",
        "run_sync(shutil.rmtree, folder)", "place.mkdir()", "run_sync(path.read_text)",
        "source.open()", "source.open(mode='rb')", "io.open(path)", "os.walk(path)",
        "os.scandir(path)", "folder.iterdir()", "place.rename(other)", "place.replace(other)",
        "place.unlink()", "ZipFile(path)", "zipfile.ZipFile(path)", "from os import scandir",
    )  # fmt: skip
    for text in by_path:
        assert len(list(_by_path(ast.parse(text)))) == 1, text
    below = (
        "os.open(last, flags, dir_fd=folder)", "os.link(a, b, src_dir_fd=f, dst_dir_fd=f)",
        "root.open(name)", "open_below(folder, name, flags)", "workbenches.open(request.id)",
        "text.replace('a', 'b')", "msgspec.structs.replace(row)", "os.stat(name, dir_fd=folder)",
    )  # fmt: skip
    for text in below:
        assert list(_by_path(ast.parse(text))) == [], text
    for text in (
        "os.path.realpath(p)", "Path(p).resolve()", "place.resolve().parent", "realpath(p)",
        "place.resolve(strict=True)",
    ):  # fmt: skip
        assert len(list(_resolved(ast.parse(text)))) == 1, text
