"""No plugin asks the machine what it would answer otherwise another time, or elsewhere.

A call that is done again must give the same bytes: the only clock of a tool is the call's
(`ToolContext.now_us`), and none draws lots, asks for the locale, or goes by the order of a folder.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = ("plugins", "kbd/office", "kbd/opc", "kbd/plaintext", "kbd/formats", "kbd/editing.py")

MODULES = frozenset(
    ("getpass", "locale", "platform", "random", "secrets", "socket", "tempfile", "time", "uuid")
)
CALLS = frozenset(
    (
        "getcwd", "getenv", "getpid", "getuid", "gethostname", "glob", "iglob", "iterdir",
        "listdir", "now", "rglob", "scandir", "today", "urandom", "utcnow",
    )
)  # fmt: skip
BUILTINS = frozenset(("hash",))
ATTRIBUTES = frozenset(
    ("environ", "st_atime", "st_ctime", "st_ino", "st_mtime", "st_mtime_ns", "st_uid")
)

ALLOWED = {
    ("kbd/formats/shelves.py", "getpid"): "the name of a shelf's entry until it is whole",
    ("kbd/plaintext/stretches.py", "time"): "a comparison ends in time, and says how far it came",
    ("plugins/formats/kbd_csv/comparison/changes.py", "time"): "the same",
    ("plugins/formats/kbd_csv/comparison/keys.py", "time"): "the same",
    ("plugins/formats/kbd_text/comparison/changes.py", "time"): "the same",
    ("plugins/formats/kbd_pptx/comparison/markup.py", "hash"): "what is equal within a process",
    ("plugins/formats/kbd_xlsx/comparison/column_alignment.py", "hash"): "the same",
    ("plugins/formats/kbd_xlsx/comparison/row_tokens.py", "hash"): "the same",
    ("plugins/providers/kbd_offline/phases.py", "now"): 'the day that "last month" goes by',
    ("plugins/providers/kbd_openai/faults.py", "now"): "Retry-After may name an hour, not seconds",
    (
        "plugins/providers/kbd_semantic/embedder.py",
        "st_ino",
    ): "whether it is the same model",
    ("plugins/providers/kbd_semantic/embedder.py", "st_mtime_ns"): "the same",
    ("plugins/providers/kbd_semantic/process.py", "socket"): "to the model's own process",
    ("plugins/providers/kbd_semantic/sidecar.py", "socket"): "the same",
    ("plugins/providers/kbd_semantic/messages.py", "socket"): "the same",
    ("plugins/tools/kbd_tables/cache.py", "glob"): "which tables of the cache go",
    ("plugins/tools/kbd_tables/cache.py", "scandir"): "the same",
    ("plugins/tools/kbd_tables/cache.py", "st_ino"): "whether somebody has touched one",
    ("plugins/tools/kbd_tables/cache.py", "st_mtime_ns"): "that, and which go",
    ("plugins/tools/kbd_tables/sandbox.py", "time"): "how long it took, declared as measured",
}


def _asked(tree: ast.AST) -> Iterator[str]:
    """Yield what of the moment or the machine a source asks for."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name.split(".")[0] in MODULES)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in MODULES:
                yield module
            case ast.Attribute(attr=name) if name in ATTRIBUTES:
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
                yield name


def test_plugins_ask_nothing_of_the_moment() -> None:
    """Neither clock nor chance nor locale nor the order of a folder, but for what has a reason."""
    found = {
        (str(path.relative_to(REPOSITORY)), asked)
        for place in SOURCES
        for path in [REPOSITORY / place, *(REPOSITORY / place).rglob("*.py")]
        if path.suffix == ".py"
        for asked in _asked(ast.parse(path.read_bytes()))
    }
    assert found == set(ALLOWED)


def test_the_check_sees_what_it_looks_for() -> None:
    """Each way to ask is found in a source that has it."""
    source = (
        "import time, uuid, os.path\nfrom random import Random\nos.environ\ndatetime.now(UTC)\n"
        "folder.iterdir()\nhash(x)\nmine.hash(x)\npath.stat().st_size\npath.stat().st_mtime"
    )
    assert sorted(_asked(ast.parse(source))) == [
        "environ", "hash", "iterdir", "now", "random", "st_mtime", "time", "uuid",
    ]  # fmt: skip
