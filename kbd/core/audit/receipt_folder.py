"""Checker of receipts as files: which modules it consists of, and one file that Python runs.

`kbd receipt verify` runs the same modules. What formats' parts hold is read by the module
`receipt_check` of each plugin that has one. It is loaded by itself, without its package: the
checker shares no code with what edits files, and none of it is imported here.
"""

import importlib.util
import io
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from kbd.core.audit import receipt_check

__all__ = ["checker_file", "load_checks"]

_MODULE = "receipt_check"

_EARLIEST = (1980, 1, 1, 0, 0, 0)

_MAIN = '''"""Checks the receipt that it lies beside: python3 verify.pyz [FILES...]"""

import importlib
import sys

from receipt_check.command import main

CHECKS = dict()
for name in ({names}):
    module = importlib.import_module("formats." + name)
    CHECKS.update(dict.fromkeys(module.TYPES, module))
raise SystemExit(main(sys.argv, CHECKS))
'''


def load_checks() -> dict[str, ModuleType]:
    """Return the checks of all formats that are installed, by the content types that they read."""
    found: dict[str, ModuleType] = {}
    for package, path in _check_files().items():
        # Its name in `sys.modules` must not be that of a module of the package.
        name = f"kbd_receipt_checks_{package}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            continue
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        found |= dict.fromkeys(module.TYPES, module)
    return found


def checker_file() -> bytes:
    """Return the checker with all formats as one file, which `python3` runs."""
    folder = Path(receipt_check.__file__).parent
    files = {
        f"receipt_check/{name}.py": (folder / f"{name}.py").read_bytes()
        for name in receipt_check.SOURCES
    }
    checks = _check_files()
    files |= {f"formats/{package}.py": path.read_bytes() for package, path in checks.items()}
    files["formats/__init__.py"] = b'"""What the parts of formats hold."""\n'
    named = "".join(f'"{package}", ' for package in checks)
    files["__main__.py"] = _MAIN.format(names=named.rstrip()).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _check_files() -> dict[str, Path]:
    """Return the modules of the plugins that have one, by their packages, without importing any."""
    found: dict[str, Path] = {}
    for entry in sorted(entry_points(group="kbd"), key=lambda each: each.module):
        package = entry.module.partition(".")[0]
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or () if spec is not None else ():
            path = Path(folder) / f"{_MODULE}.py"
            if path.is_file():
                found[package] = path
    return found
