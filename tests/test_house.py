"""The rules of the house that no other tool checks, held over every file of kbd and its plugins.

Each rule is one test; what breaks it is told as `file: what`.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parent.parent

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 20
MIN_DOUBLE_STATEMENTS = 4

NAMES_OF_NOTHING = {"common", "helpers", "manager", "misc", "service", "utils"}
"""A module is named for what it holds; these hold whatever was near."""

FIELD_NOUNS = {
    "deferred", "editing", "embedding", "encoding", "formatting", "framing", "parsing",
    "ranking", "reading", "settings", "snapshotting", "testing",
}  # fmt: skip
"""Words in -ing and -ed that name a thing which the field looks for."""

VERB_FORMS = {
    "kbd/client/blocking.py": "the public name of a client, with `aio` beside it",
    "kbd/core/audit/verify/opening.py": "its bytes lie in case files",
    "kbd/core/audit/verify/packed.py": "its bytes lie in case files",
    "kbd/core/audit/verify/unpacking.py": "its bytes lie in case files",
    "kbd/formats/styled.py": "public: named for the capability that it is about",
}
"""Modules that are named by a form of a verb, each with its reason."""

WIRE = ("kbd/events/", "kbd/requests/")
"""Names of events and of requests' answers are promises: what is recorded is what is answered."""

SAME_NAMES = 8
"""Class names that stand in more than one module beside those of the wire: records that are tagged
or hashed by their name, and those of a public module."""

# Spelt apart, so that this file does not break its own rule.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")

FORMATS = re.compile(
    r"\b(xlsx?|docx?|pptx?|odt|ods|pdf|csv|tsv|psv|parquet|png|jpe?g)\b", re.IGNORECASE
)

PROPER_NOUNS = {"I"}
"""Words that stand with one capital at the beginning of an error's text."""

REASON = re.compile(r"#\s*noqa: PLC0415 - \S+")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

Rule = Callable[["Source"], Iterator[str]]


class Source(NamedTuple):
    """One file: its path from the root, its text, and the same as a tree."""

    path: Path
    text: str
    tree: ast.Module


@cache
def sources(folder: str) -> tuple[Source, ...]:
    """Every Python file below a folder, read and parsed once."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    texts = [(path.relative_to(ROOT), path.read_text("utf-8")) for path in paths]
    return tuple(Source(path, text, ast.parse(text)) for path, text in texts)


def broken(rule: Rule, *folders: str) -> list[str]:
    """What breaks a rule in the folders."""
    files = [source for folder in folders for source in sources(folder)]

    assert files, f"nothing to check in {folders}"
    return [f"{source.path}: {what}" for source in files for what in rule(source)]


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below a node, however deep; no expression holds one."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements(child)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function, however deep."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def public(node: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """The public functions and classes directly in a module or class."""
    for child in node.body:
        if isinstance(child, Definition) and not child.name.startswith("_"):
            yield child


def is_overload(node: Definition) -> bool:
    """Whether a definition is only a signature of the one that follows."""
    return any(ast.unparse(mark).endswith(("overload", ".setter")) for mark in node.decorator_list)


def test_files_are_short() -> None:
    """No file is longer than 600 lines, and only where one subject needs them."""

    def rule(source: Source) -> Iterator[str]:
        lines = len(source.text.splitlines())
        if lines > MAX_FILE_LINES:
            yield f"{lines} lines"

    assert broken(rule, "kbd", "plugins", "tests", "benchmarks") == []


def test_functions_are_short() -> None:
    """No function is longer than 60 lines."""

    def rule(source: Source) -> Iterator[str]:
        for node in functions(source.tree):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{node.name} has {lines} lines"

    assert broken(rule, "kbd", "plugins", "tests", "benchmarks") == []


def test_classes_are_small() -> None:
    """No class has more than 20 public methods."""

    def rule(source: Source) -> Iterator[str]:
        for node in statements(source.tree):
            if isinstance(node, ast.ClassDef):
                methods = [each for each in public(node) if not isinstance(each, ast.ClassDef)]
                if len(methods) > MAX_PUBLIC_METHODS:
                    yield f"{node.name} has {len(methods)} public methods"

    assert broken(rule, "kbd", "plugins") == []


def test_everything_public_is_documented() -> None:
    """Each module, public class and public function says what it promises."""

    def rule(source: Source) -> Iterator[str]:
        if not ast.get_docstring(source.tree):
            yield "the module says nothing"
        scopes: list[ast.Module | ast.ClassDef] = [source.tree]
        while scopes:
            for node in public(scopes.pop()):
                if not ast.get_docstring(node) and not is_overload(node):
                    yield f"{node.name}, line {node.lineno}, says nothing"
                if isinstance(node, ast.ClassDef):
                    scopes.append(node)

    assert broken(rule, "kbd", "plugins") == []


def test_every_test_states_its_promise() -> None:
    """Each test's docstring is the sentence that it proves."""

    def rule(source: Source) -> Iterator[str]:
        for node in functions(source.tree):
            if node.name.startswith("test_") and not ast.get_docstring(node):
                yield f"{node.name} promises nothing"

    assert broken(rule, "tests") == []


def test_modules_have_names() -> None:
    """No module or folder has a name that any code would fit."""

    def rule(source: Source) -> Iterator[str]:
        yield from NAMES_OF_NOTHING & {source.path.stem, *source.path.parts}

    assert broken(rule, "kbd", "plugins", "tests", "benchmarks") == []


def test_modules_are_nouns() -> None:
    """A module bears the noun that a newcomer would search for, or has a reason on record."""
    found = {
        str(source.path)
        for folder in ("kbd", "plugins")
        for source in sources(folder)
        if re.search(r"(?:ing|ed)$", source.path.stem)
        and source.path.stem.rpartition("_")[2] not in FIELD_NOUNS
    }

    assert found == VERB_FORMS.keys()


def test_a_class_name_stands_in_one_module() -> None:
    """Where two rooms need the same word each says which; the wire's own names may recur."""
    places: dict[str, list[str]] = {}
    for folder in ("kbd", "plugins"):
        for source in sources(folder):
            for node in public(source.tree):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(str(source.path))
    same = {
        name: where
        for name, where in places.items()
        if len([path for path in where if not path.startswith(WIRE)]) > 1
    }

    assert len(same) <= SAME_NAMES, same


def test_no_function_is_written_twice() -> None:
    """Functions of four statements or more with the same body are one function."""
    bodies: dict[str, list[str]] = {}
    for folder in ("kbd", "plugins"):
        for source in sources(folder):
            for node in functions(source.tree):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                size = sum(isinstance(each, ast.stmt) for top in body for each in ast.walk(top))
                # The record of an error takes its arguments apart, in whichever room.
                if size >= MIN_DOUBLE_STATEMENTS and node.name != "__init__":
                    told = "".join(map(ast.dump, body))
                    bodies.setdefault(told, []).append(f"{source.path}:{node.lineno} {node.name}")

    assert [where for where in bodies.values() if len(where) > 1] == []


def test_nothing_is_left_for_later() -> None:
    """No comment or text promises work that is not done."""

    def rule(source: Source) -> Iterator[str]:
        yield from UNFINISHED.findall(source.text)

    assert broken(rule, "kbd", "plugins", "tests", "benchmarks") == []


def test_no_attribute_is_looked_up_by_a_computed_name() -> None:
    """`getattr` takes a literal: dispatch is by type or by table, which a reader can follow."""

    def rule(source: Source) -> Iterator[str]:
        for node in ast.walk(source.tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="getattr" | "setattr" | "delattr"), args=[_, name, *_]
                ) if not isinstance(name, ast.Constant):
                    yield f"line {node.lineno}"
                case _:
                    pass

    assert broken(rule, "kbd") == []


def test_no_format_is_named_in_kbd() -> None:
    """Only a plugin knows a format: no text of kbd's code holds a suffix or a format's name.

    What stands alone as an expression is a docstring, which may give an example.
    """

    def rule(source: Source) -> Iterator[str]:
        alone = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(source.tree):
            match node:
                case ast.Constant(value=str(text)) if id(node) not in alone:
                    if FORMATS.search(text):
                        yield f"line {node.lineno}: {text!r}"
                case _:
                    pass

    assert broken(rule, "kbd") == []


def own_names(node: Definition) -> Iterator[str]:
    """What a function takes; what a class takes, holds and sets."""
    if isinstance(node, ast.ClassDef):
        for inner in ast.walk(node):
            match inner:
                case ast.AnnAssign(target=ast.Name(id=name)):
                    yield name
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield name
                case ast.FunctionDef(name=name):
                    yield name
                    yield from (
                        each.arg for each in ast.walk(inner.args) if isinstance(each, ast.arg)
                    )
                case _:
                    pass
    else:
        yield from (each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))


@cache
def names_by_class() -> dict[str, frozenset[str]]:
    """The own names of every class of kbd and its plugins, by its name."""
    found: dict[str, frozenset[str]] = {}
    for folder in ("kbd", "plugins"):
        for source in sources(folder):
            for node in statements(source.tree):
                if isinstance(node, ast.ClassDef):
                    found[node.name] = found.get(node.name, frozenset()) | frozenset(
                        own_names(node)
                    )
    return found


def documented_names(node: Definition, section: str) -> list[str]:
    """The names that a section of a docstring lists."""
    text = ast.get_docstring(node) or ""
    found = re.search(rf"^{section}:\n((?: .*\n?|\n)+)", text, re.MULTILINE)
    entries = re.findall(r"^ {4}([*\w]+(?:, [*\w]+)*):", found[1], re.MULTILINE) if found else []
    return [name.lstrip("*") for entry in entries for name in entry.split(", ")]


def test_docstrings_list_what_is_there() -> None:
    """A parameter, an attribute or an error that a docstring lists exists: renames reach it."""

    def rule(source: Source) -> Iterator[str]:
        errors = known_errors(source)
        for node in statements(source.tree):
            if not isinstance(node, Definition):
                continue
            known = set(own_names(node))
            if isinstance(node, ast.ClassDef):
                bases = (_last_name(base) for base in node.bases)
                known.update(*(names_by_class().get(base, ()) for base in bases))
            listed = [*documented_names(node, "Args"), *documented_names(node, "Attributes")]
            yield from (f"{node.name} lists {name}" for name in listed if name not in known)
            raised = documented_names(node, "Raises")
            yield from (f"{node.name} raises {name}" for name in raised if name not in errors)

    assert broken(rule, "kbd", "plugins") == []


def known_errors(source: Source) -> set[str]:
    """The errors that a file may name: all of kbd and Python, and what it imports."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return imported | error_classes()


def test_imports_inside_functions_have_a_reason() -> None:
    """An import that is not at the top says on its line what it costs or why it must wait."""

    def rule(source: Source) -> Iterator[str]:
        written = source.text.splitlines()
        for function in functions(source.tree):
            imports = (ast.Import, ast.ImportFrom)
            lines = [node.lineno for node in statements(function) if isinstance(node, imports)]
            yield from (f"line {at}" for at in lines if not REASON.search(written[at - 1]))

    assert broken(rule, "kbd", "plugins") == []


@cache
def error_classes() -> frozenset[str]:
    """The names of all classes of errors: Python's, and those of kbd and its plugins."""
    found = {
        name
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    classes = [
        node
        for folder in ("kbd", "plugins")
        for source in sources(folder)
        for node in statements(source.tree)
        if isinstance(node, ast.ClassDef)
    ]
    while (
        more := {each.name for each in classes if found & set(map(_last_name, each.bases))} - found
    ):
        found |= more
    return frozenset(found)


def _last_name(node: ast.expr | None) -> str:
    """The name of what an expression stands for, without the module before it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def own_expressions(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement holds, however deep, without the statements in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield child
            yield from own_expressions(child)


def error_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each text that a call of an error's class is given first, `{}` for what is put into it.

    One that the statement before gave a name counts, too.
    """
    before: dict[ast.stmt, ast.stmt] = {}
    for node in [tree, *statements(tree)]:
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                before |= zip(block[1:], block, strict=False)
    for statement in statements(tree):
        given: dict[str, ast.expr] = {}
        match before.get(statement):
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given = {name: value}
            case _:
                pass
        for node in own_expressions(statement):
            match node:
                case ast.Call(func=function, args=[first, *_]):
                    if _last_name(function) in error_classes():
                        texts = _literal_texts(given.get(_last_name(first), first))
                        yield from ((node.lineno, text) for text in texts)
                case _:
                    pass


def _literal_texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values
            )
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_literal_texts(body), *_literal_texts(orelse))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            begins, ends = list(_literal_texts(left)), list(_literal_texts(right))
            yield from (f"{one}{two}" for one in begins or ["{}"] for two in ends or ["{}"])
        case _:
            pass


def is_capitalized(word: str) -> bool:
    """Whether a word begins as a sentence does, and not as a name or an abbreviation is written."""
    return word[:1].isupper() and word not in PROPER_NOUNS and not re.search(r"[A-Z0-9_]", word[1:])


def test_texts_of_errors_have_one_form() -> None:
    """The text of an error is no sentence: no capital at its beginning, no full stop at its end.

    Two parts (what is wrong, what helps) are joined by a semicolon, not written as two sentences.
    """

    def rule(source: Source) -> Iterator[str]:
        for line, text in error_texts(source.tree):
            words = re.findall(r"\w+", text)
            is_sentence = text[:1].isupper() and is_capitalized(words[0])
            if is_sentence or re.search(r"[^.]\.\s*$|[^.]\.\s+[A-Z{]", text):
                yield f"line {line}: {text!r}"

    assert broken(rule, "kbd", "plugins") == []


# A group that ends, what may be had of it, and a plus: `)*+`, `)?+`, `)++`, `){1,3}+`.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def texts_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every constant text with its line; what an f-string has filled in stands there as a group."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield node.lineno, text
            case ast.Constant(value=bytes(data)):
                yield node.lineno, data.decode("latin-1")
            case ast.JoinedStr(values=parts):
                texts = (p.value if isinstance(p, ast.Constant) else "(?:)" for p in parts)
                yield node.lineno, "".join(map(str, texts))


def test_no_group_is_possessive_by_a_plus() -> None:
    """Before Python 3.11.5 such a group matches what it should not (CPython issue 106052).

    Debian 12 has 3.11.2, where cells of a sheet were taken for others. `(?>(?:…)*)` is the same and
    right everywhere; a single character or set may have the plus.
    """

    def rule(source: Source) -> Iterator[str]:
        for line, text in texts_in(source.tree):
            if POSSESSIVE_GROUP.search(text):
                yield f"line {line}: {text!r}"

    assert POSSESSIVE_GROUP.search("(?:ab?c)*+")
    assert POSSESSIVE_GROUP.search('(?: r="x")?+y')
    assert not POSSESSIVE_GROUP.search(r"(?>(?:ab?c)*)[^<]*+\)*+")
    assert broken(rule, "kbd", "plugins") == []
