"""The rules of the house that no other tool checks, held over every file of kbd and its plugins."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 20

NAMES_OF_NOTHING = {"common", "engine", "helpers", "manager", "misc", "service", "utils"}
"""A module is named for what it holds; these hold whatever was near."""

# Spelt apart, so that this file does not break its own rule.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")

FORMATS = re.compile(
    r"\b(xlsx?|docx?|pptx?|odt|ods|pdf|csv|tsv|psv|parquet|jsonl|png|jpe?g)\b", re.IGNORECASE
)

REASON = re.compile(r"#\s*noqa: PLC0415 - \S+")

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def sources(*folders: str) -> list[Path]:
    """Every Python file below the folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    """The path, relative to the root: the name of a parametrised test."""
    return str(path.relative_to(ROOT))


SHIPPED = sources("kbd", "plugins")
EVERYTHING = [*SHIPPED, *sources("tests", "benchmarks")]

shipped = pytest.mark.parametrize("path", SHIPPED, ids=name_of)
everything = pytest.mark.parametrize("path", EVERYTHING, ids=name_of)
of_kbd = pytest.mark.parametrize("path", sources("kbd"), ids=name_of)


def tree_of(path: Path) -> ast.Module:
    """The file, parsed."""
    return ast.parse(path.read_text("utf-8"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function, however deep."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def public(node: ast.Module | ast.ClassDef) -> Iterator[Documented]:
    """The public functions and classes directly in a module or class."""
    for child in node.body:
        if isinstance(child, Documented) and not child.name.startswith("_"):
            yield child


def is_overload(node: Documented) -> bool:
    """Whether a definition is only a signature of the one that follows."""
    return any(ast.unparse(mark).endswith(("overload", ".setter")) for mark in node.decorator_list)


def docstrings(tree: ast.Module) -> set[int]:
    """The identities of the strings that stand alone: docstrings of modules, fields and so on."""
    alone = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {id(node.value) for node in alone if isinstance(node.value, ast.Constant)}


@everything
def test_files_are_short(path: Path) -> None:
    """No file is longer than 400 lines; one past 300 is better split by subject."""
    lines = len(path.read_text("utf-8").splitlines())

    assert lines <= MAX_FILE_LINES


@everything
def test_functions_are_short(path: Path) -> None:
    """No function is longer than 60 lines."""
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in
               functions(tree_of(path))}  # fmt: skip

    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


@shipped
def test_classes_are_small(path: Path) -> None:
    """No class has more than 20 public methods."""
    classes = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    sizes = {node.name: len([m for m in public(node) if not isinstance(m, ast.ClassDef)])
             for node in classes}  # fmt: skip

    assert {name: size for name, size in sizes.items() if size > MAX_PUBLIC_METHODS} == {}


@shipped
def test_everything_public_is_documented(path: Path) -> None:
    """Each module, public class and public function says what it promises."""
    tree = tree_of(path)
    silent = [] if ast.get_docstring(tree) else ["the module"]
    scopes: list[ast.Module | ast.ClassDef] = [tree]
    while scopes:
        for node in public(scopes.pop()):
            if not ast.get_docstring(node) and not is_overload(node):
                silent.append(f"{node.name}, line {node.lineno}")
            if isinstance(node, ast.ClassDef):
                scopes.append(node)

    assert silent == []


@everything
def test_modules_have_names(path: Path) -> None:
    """No module or folder has a name that any code would fit."""
    assert set() == NAMES_OF_NOTHING & {path.stem, *path.relative_to(ROOT).parts}


@everything
def test_nothing_is_left_for_later(path: Path) -> None:
    """No comment or text promises work that is not done."""
    assert UNFINISHED.findall(path.read_text("utf-8")) == []


@of_kbd
def test_no_attribute_is_looked_up_by_a_computed_name(path: Path) -> None:
    """`getattr` takes a literal: dispatch is by type or by table, which a reader can follow."""
    computed = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"getattr", "setattr", "delattr"}
        and not isinstance(node.args[1], ast.Constant)
    ]

    assert computed == []


@of_kbd
def test_no_format_is_named_in_kbd(path: Path) -> None:
    """Only a plugin knows a format: no text of kbd's code holds a suffix or a format's name."""
    tree = tree_of(path)
    prose = docstrings(tree)
    named = [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in prose and FORMATS.search(node.value)
    ]

    assert named == []


@shipped
def test_imports_inside_functions_have_a_reason(path: Path) -> None:
    """An import that is not at the top says on its line what it costs or why it must wait."""
    text = path.read_text("utf-8")
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    unexplained = [
        node.lineno
        for function in functions(ast.parse(text))
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        if not REASON.search(comments.get(node.lineno, ""))
    ]

    assert unexplained == []
