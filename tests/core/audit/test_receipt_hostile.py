"""The checker of receipts by itself: what it rests on, and what hostile receipts and files do."""

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kbd
from kbd.core.audit import receipt_check
from kbd.core.audit.receipt_check import files, packages
from kbd.core.audit.receipt_check.command import FALSE, PROVEN, UNPROVEN, USAGE, run
from kbd.core.audit.receipt_folder import checker_file, load_checks
from kbd.formats.receipts import canonical_json
from kbd_text.handler import TextFormat
from receipt_rig import CHECKS, FORMATS, Case, edited, sha256

ROOT = Path(kbd.__file__).parent


def _modules() -> dict[str, str]:
    folder = Path(receipt_check.__file__).parent
    own = {f"receipt_check/{path.name}": path for path in folder.glob("*.py")}
    plugins = {
        f"{name}/receipt_check.py": Path(sys.modules[name].__file__ or "").parent
        / "receipt_check.py"
        for name in ("kbd_xlsx", "kbd_docx", "kbd_pptx")
    }
    return {name: path.read_text() for name, path in {**own, **plugins}.items()}


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    """Its modules have the syntax of 3.8 and import the standard library and each other only."""
    modules = _modules()
    assert {name.partition("/")[2].removesuffix(".py") for name in modules} == {
        *receipt_check.SOURCES, "receipt_check",
    }  # fmt: skip
    for name, source in modules.items():
        tree = ast.parse(source, name, feature_version=(3, 8))
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    imported = {each.name.partition(".")[0] for each in names}
                case ast.ImportFrom(level=0, module=str(module)):
                    imported = {module.partition(".")[0]}
                case ast.ImportFrom(level=1):
                    imported = set()
                case ast.ImportFrom():
                    imported = {"what lies above it"}
                case _:
                    continue
            assert imported <= sys.stdlib_module_names, (name, imported)


def test_the_checker_runs_on_the_oldest_python_it_promises() -> None:
    """What 3.8 cannot do is nowhere evaluated: no abstract or built-in type takes parameters."""
    for name, source in _modules().items():
        tree = ast.parse(source, name)
        bare = {"dict", "frozenset", "list", "set", "tuple", "type"}
        unevaluated: set[ast.AST] = set()
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module="collections.abc", names=names):
                    bare |= {each.name for each in names}
                case ast.ImportFrom(module="__future__", names=names):
                    assert [each.name for each in names] == ["annotations"]
                case ast.AnnAssign(annotation=told) | ast.arg(annotation=ast.AST() as told):
                    unevaluated |= {*ast.walk(told)}
                case ast.FunctionDef(returns=ast.AST() as told):
                    unevaluated |= {*ast.walk(told)}
        for node in ast.walk(tree):
            match node:
                case ast.Subscript(value=ast.Name(id=known)) if node not in unevaluated:
                    assert known not in bare, (name, node.lineno)
                case ast.BinOp(op=ast.BitOr(), right=ast.Constant(value=None)):
                    assert node in unevaluated, (name, node.lineno)
                case ast.Attribute(attr="removeprefix" | "removesuffix"):
                    raise AssertionError((name, node.lineno))


def test_checks_are_found_without_importing_a_plugin() -> None:
    """In a process of its own: neither kbd's formats nor any plugin is loaded for them."""
    program = (
        "import sys\nfrom kbd.core.audit.receipt_folder import load_checks\nload_checks()\n"
        "print([each for each in sys.modules if each.startswith(('kbd_', 'kbd.opc', 'kbd.formats'))"
        " and not each.startswith('kbd_receipt_checks_')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    assert load_checks().keys() == CHECKS.keys()


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A workbook that one call changed."""
    folder = tmp_path_factory.mktemp("book")

    def put(value: int) -> dict[str, Any]:
        return {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": value}]}

    made = edited("xlsx", None, [[{"op": "ensure_sheet", "sheet": "S"}, put(1)], [put(2)]], folder)
    return Case(folder / "case", "book.xlsx", made, FORMATS["xlsx"])


def _checked(*paths: Path) -> tuple[int, list[dict[str, Any]], str]:
    """Check in a process of its own, with little memory; return code, report and what was said."""
    program = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from kbd.core.audit.receipt_check.command import run\n"
        "from kbd.core.audit.receipt_folder import load_checks\n"
        "raise SystemExit(run(sys.argv[1:], as_json=True, checks=load_checks()))"
    )
    command = [sys.executable, "-c", program, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr
    told = json.loads(done.stdout) if done.stdout.startswith("[") else []
    return done.returncode, told, done.stdout + done.stderr


def _with_after(case: Case, folder: Path, make: Callable[[Path], object]) -> Path:
    """Return a copy of a case with another newest version, of which the receipt has the hash."""
    for side in ("before", "after"):
        (folder / side).mkdir(parents=True)
    name = case.name
    (folder / "before" / name).write_bytes((case.folder / "before" / name).read_bytes())
    after = folder / "after" / name
    make(after)
    receipt = json.loads((case.folder / "receipt.json").read_bytes())
    (file,) = receipt["files"]
    file["after"] = {"sha256": sha256(after), "size_bytes": after.stat().st_size}
    file["steps"][-1]["after"] = sha256(after)
    (folder / "receipt.json").write_bytes(canonical_json(receipt) + b"\n")
    return folder


def _bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        with package.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            for _ in range(300):
                part.write(bytes(1 << 20))


def _sheet_of(text: str, case: Case) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(case.after) as old, zipfile.ZipFile(path, "w") as new:
            for info in old.infolist():
                data = old.read(info)
                is_sheet = info.filename.endswith("sheet1.xml")
                new.writestr(info.filename, text if is_sheet else data)

    return make


@pytest.mark.full
def test_hostile_files_are_refused_in_words(book: Case, tmp_path: Path) -> None:
    """A bomb, what is no zip, a document type, endless nesting, no XML: never proven, no trace."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    entity = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>'
    files: dict[str, Callable[[Path], object]] = {
        "bomb": _bomb,
        "empty": lambda path: path.write_bytes(b""),
        "noise": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(1000)),
        "cut": lambda path: path.write_bytes(book.after.read_bytes()[:-30]),
        "doctype": _sheet_of(f'{entity}<worksheet xmlns="{main}">&c;</worksheet>', book),
        "nested": _sheet_of("<a>" * 100_000 + "</a>" * 100_000, book),
        "no xml": _sheet_of("<worksheet", book),
        "an address": _sheet_of(
            f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="{"A" * 9}1"/></row></sheetData>'
            "</worksheet>", book,
        ),
    }  # fmt: skip
    for name, make in files.items():
        folder = _with_after(book, tmp_path / name, make)
        code, told, _ = _checked(folder)
        assert code in (FALSE, UNPROVEN), name
        (file,) = told[0]["files"]
        assert file["faults"] or file["unproven"], name


def test_hostile_receipts_are_refused_in_words(book: Case, tmp_path: Path) -> None:
    """No JSON, endless nesting, another version, half of it: an error, and no trace."""
    data = (book.folder / "receipt.json").read_bytes()
    path = tmp_path / "receipt.json"

    def refused(content: bytes) -> str:
        path.write_bytes(content)
        code, told, said = _checked(path, book.folder / "before", book.folder / "after")
        assert code != PROVEN, content[:300]
        assert told or said.strip()
        return said

    refused(b'{"format":"kbd-receipt"' + b"[" * 200_000)
    refused(b'{"format":"kbd-receipt","a":' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    assert "use a newer kbd" in refused(b'{"format":"kbd-receipt","version":3,"files":[]}')
    old = data.replace(b'"version":2', b'"version":1')
    assert "of an older kbd, and not checked" in refused(old)
    refused(b'{"format":"kbd-receipt","version":2,"files":NaN}')
    refused(data[:-40])
    refused(data.replace(b'"value":"2"', b'"value":"\\ud800"'))


@pytest.mark.full
def test_wrong_kinds_of_values_anywhere_are_no_trace(
    book: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each value of a receipt is replaced in turn; the check ends with a code, each time."""
    data = (book.folder / "receipt.json").read_bytes()
    others = [str(book.folder / side) for side in ("before", "after")]
    path = tmp_path / "receipt.json"

    def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if not isinstance(value, dict | list):
            return [at]
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return [at, *(each for key, one in inner for each in places(one, (*at, key)))]

    found = [at for at in places(json.loads(data)) if at]
    assert len(found) > 90
    for at in found:
        for value in (None, -1, "x", [0], {"x": 0}):
            changed = json.loads(data)
            holder = changed
            for key in at[:-1]:
                holder = holder[key]
            if holder[at[-1]] == value:
                continue
            holder[at[-1]] = value
            path.write_bytes(canonical_json(changed) + b"\n")
            code = run([str(path), *others], as_json=False, checks=CHECKS)
            assert code in (PROVEN, FALSE, USAGE, UNPROVEN)
            # What no file shows may be anything; all else must not pass.
            if at[0] == "files" and code == PROVEN:
                assert at[2] == "path" or at[-1] == "time", (at, value)
    assert "\x1b" not in capsys.readouterr().out


def test_the_saved_checker_runs_alone(book: Case, tmp_path: Path) -> None:
    """One file, by any Python, isolated from all that is installed, says what kbd says."""
    checker = tmp_path / "verify.pyz"
    checker.write_bytes(checker_file())
    assert checker_file() == checker.read_bytes()
    command = [sys.executable, "-I", "-S", str(checker), "--json", str(book.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)[0]["result"]) == (PROVEN, "proven")
    done = subprocess.run(
        [*command[:4], str(book.folder / "receipt.json")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == UNPROVEN
    assert "Nothing is false, but not all could be checked." in done.stdout
    done = subprocess.run(
        [*command[:4], str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.startswith("no receipt is among them")) == (USAGE, True)


def test_what_is_printed_obeys_no_terminal(
    book: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names in a receipt may hold anything; nothing of it reaches a terminal as a command."""
    receipt = json.loads((book.folder / "receipt.json").read_bytes())
    receipt["workbench"]["name"] = receipt["files"][0]["path"] = "\x1b[2J\u202ename\r\n"
    path = tmp_path / "receipt.json"
    path.write_bytes(canonical_json(receipt) + b"\n")
    assert run([str(path)], as_json=False, checks={}) == UNPROVEN
    said = capsys.readouterr().out
    assert not {"\x1b", "\r", "\u202e"} & set(said)


def test_what_is_no_file_is_refused_at_once(
    book: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe, a device, a name of nothing: the code of a wrong command line, and no waiting."""
    os.mkfifo(tmp_path / "pipe.json")
    wrong = {
        str(tmp_path / "pipe.json"): "is no regular file", "/dev/zero": "is no regular file",
        str(tmp_path / "none"): "is not there", "": "an empty name is not there",
    }  # fmt: skip
    for path, told in wrong.items():
        assert run([str(book.folder), path], as_json=False, checks=CHECKS) == USAGE
        said = capsys.readouterr()
        assert (told in said.err, said.out) == (True, "")
    assert run([str(book.folder), str(tmp_path)], as_json=False, checks=CHECKS) == PROVEN
    # A receipt that is named may be called anything.
    renamed = tmp_path / "receipt of may.txt"
    renamed.write_bytes((book.folder / "receipt.json").read_bytes())
    sides = [str(book.folder / side) for side in ("before", "after", "between")]
    assert run([str(renamed), *sides], as_json=False, checks=CHECKS) == PROVEN


def test_a_file_that_lies_in_a_saved_folder_and_is_no_version_is_told(
    book: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who is shown the folder takes all of it for proven: a file put beside the versions is not."""
    saved = tmp_path / "saved"
    shutil.copytree(book.folder, saved)
    (saved / "after" / "other.xlsx").write_bytes(b"made up")
    assert run([str(saved)], as_json=False, checks=CHECKS) == UNPROVEN
    assert "after/other.xlsx has neither" in capsys.readouterr().out
    (saved / "after" / "other.xlsx").rename(saved / "letter.txt")
    assert run([str(saved)], as_json=False, checks=CHECKS) == PROVEN


def test_what_is_past_a_limit_is_not_called_false(
    book: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A true receipt of a file larger than what is read: nothing is false, and it is not proven."""
    for limit in ("MAX_PART_BYTES", "MAX_TOTAL_BYTES", "MAX_ENTRIES", "MAX_FILE_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(packages, limit, 3)
            report = book.check()
            assert (report.is_false, report.is_whole) == (False, False), limit
            named = book.check(book.folder / "receipt.json", book.after)
            assert (named.is_false, named.is_whole) == (False, False), limit

    folder = tmp_path / "lines"
    folder.mkdir()
    versions = [folder / "0", folder / "1"]
    versions[0].write_bytes(b"\n" * (files.MAX_LINES + 1))
    versions[1].write_bytes(b"\n")
    case = Case(folder / "case", "long.txt", versions, TextFormat())
    assert case.file["inside"] == {"kind": "lines", "unread": "large"}
    assert (case.check().is_false, case.check().is_whole) == (False, True)
    versions[0].write_bytes(b"\n" * 5)
    small = Case(folder / "small", "short.txt", versions, TextFormat())
    small.file["inside"] = {"kind": "lines", "unread": "large"}
    small.write()
    assert not small.check().is_whole


def test_a_package_is_not_told_as_a_whole_for_its_size(
    book: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who leaves out what differs in a large workbook proves nothing of it."""
    case = Case(tmp_path / "case", book.name, book.versions, FORMATS["xlsx"])
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    assert case.check().is_whole
    for kind in ("package", "lines", "file"):
        case.file["inside"] = {"kind": kind, "unread": "large"}
        case.write()
        report = case.check()
        assert (report.is_false, report.is_whole) == (False, False), kind
