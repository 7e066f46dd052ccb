"""Replacement of a plugin by another version, copied from a path and put first for imports.

Only the one package is taken, as a copy in a folder of its own: nothing that lies beside it shadows
anything, and nothing is written to where it came from.
"""

import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

import msgspec

from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.errors import ValidationFailed

__all__ = [
    "Replacement",
    "check_loaded",
    "copy_package",
    "plugin_packages",
    "with_replaced_version",
]

MAX_BYTES = 256 * 1024 * 1024
"""A package that is larger than this is none of a plugin."""


class Replacement(msgspec.Struct, frozen=True):
    """Plugin's package that was copied.

    Args:
        package: Its name.
        folder: The folder that holds nothing but it, to be looked in first.
        version: The version that its distribution tells; None if it came without one.
    """

    package: str
    folder: Path
    version: str | None = None


def plugin_packages(points: Collection[EntryPoint]) -> frozenset[str]:
    """Return the top packages of plugins."""
    return frozenset(_package_name(point) for point in points)


def copy_package(path: Path, into: Path, packages: Collection[str]) -> Replacement:
    """Copy the one plugin's package that is at a path into a new folder.

    Args:
        path: The package's folder, one that holds it (a source tree, too), or a wheel.
        into: The folder to make.
        packages: The packages of the installed plugins: one of these it must be.

    Raises:
        ValidationFailed: There is none, or several; or what is there cannot be read.
    """
    try:
        into.mkdir(mode=0o700)
        if path.is_file():
            return _unpack_wheel(path, into, packages)
        found = _find_package(path, packages)
        _check_size(found)
        # Links stay links: what they lead to outside of the package is not copied.
        shutil.copytree(
            found, into / found.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    except (OSError, shutil.Error) as error:
        reason = os.strerror(error.errno) if error.errno else "a file in it cannot be copied"
        msg = f"{path.name} cannot be taken as a plugin: {reason}"
        raise ValidationFailed(msg) from None
    return Replacement(found.name, into)


def with_replaced_version(points: Sequence[EntryPoint], taken: Replacement) -> list[EntryPoint]:
    """Return the entry points with what was taken in its place, and its version if it is known."""
    return [
        msgspec.structs.replace(
            point,
            version=point.version if taken.version is None else taken.version,
            stands_in=str(taken.folder),
        )
        if _package_name(point) == taken.package
        else point
        for point in points
    ]


def check_loaded(plugins: Plugins, points: Sequence[EntryPoint], taken: Replacement) -> None:
    """Check that the replacement is what was loaded.

    Raises:
        ValidationFailed: It could not be imported, or declares nothing that can be used.
    """
    names = {point.name for point in points if _package_name(point) == taken.package}
    for status in plugins.statuses:
        if status.name in names and (status.status != "loaded" or status.reason):
            msg = f"this version of {taken.package} cannot be used: {status.reason}"
            raise ValidationFailed(msg)


def _package_name(point: EntryPoint) -> str:
    # An entry point's value is `package.module:object`.
    return point.value.partition(":")[0].partition(".")[0].strip()


def _find_package(path: Path, packages: Collection[str]) -> Path:
    """Return the folder of the one package at a path."""
    if (path / "__init__.py").is_file():
        if path.name in packages:
            return path
        msg = (
            f"{path.name} is not the package of an installed plugin: {_expected_packages(packages)}"
        )
        raise ValidationFailed(msg)
    below = [path / name for name in sorted(packages)]
    below += [path / "src" / name for name in sorted(packages)]
    found = [folder for folder in below if (folder / "__init__.py").is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(folder.name for folder in found)
        msg = f"{path.name} holds several plugins, name one of them: {names}"
    elif not path.is_dir():
        msg = f"{path.name} is not there: neither a folder nor a wheel"
    else:
        msg = f"{path.name} holds no package of an installed plugin: {_expected_packages(packages)}"
    raise ValidationFailed(msg)


def _expected_packages(packages: Collection[str]) -> str:
    return f"a folder with __init__.py is expected, named as one of {', '.join(sorted(packages))}"


def _check_size(folder: Path) -> None:
    total = 0
    for place, _, names in os.walk(folder):
        total += sum(os.lstat(Path(place, name)).st_size for name in names)
        if total > MAX_BYTES:
            msg = f"{folder.name} is larger than {MAX_BYTES >> 20} MiB: that is no plugin's package"
            raise ValidationFailed(msg)


def _unpack_wheel(wheel: Path, into: Path, packages: Collection[str]) -> Replacement:
    """Take the one package out of a wheel, which is a zip (PEP 427)."""
    try:
        with ZipFile(wheel) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            held = {PurePosixPath(info.filename).parts[0] for info in infos if info.filename}
            found = sorted(held & set(packages))
            if len(found) != 1:
                held_by = f"several: {', '.join(found)}" if found else "none"
                msg = f"{wheel.name} must hold one package of an installed plugin, not {held_by}"
                raise ValidationFailed(msg)
            wanted = [info for info in infos if PurePosixPath(info.filename).parts[0] == found[0]]
            # What the directory claims is enough: zipfile reads no more of a member than that.
            if sum(info.file_size for info in wanted) > MAX_BYTES:
                msg = f"{wheel.name} unpacks to more than {MAX_BYTES >> 20} MiB"
                raise ValidationFailed(msg)
            for info in wanted:
                target = into.joinpath(*_member_parts(wheel, info.filename))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(info))
            version = _wheel_version(archive, [info.filename for info in infos])
    # zipfile raises NotImplementedError for a compression that it does not know, and RuntimeError
    # for a member that is encrypted.
    except (BadZipFile, NotImplementedError, RuntimeError, ValueError) as error:
        msg = f"{wheel.name} is neither a folder nor a wheel"
        raise ValidationFailed(msg) from error
    return Replacement(found[0], into, version)


def _member_parts(wheel: Path, name: str) -> tuple[str, ...]:
    # No member may be written outside of the folder ("zip slip").
    parts = PurePosixPath(name).parts
    if any(part in ("..", "/") or "\\" in part or "\0" in part for part in parts):
        msg = f"{wheel.name} holds a name that leads out of it"
        raise ValidationFailed(msg)
    return parts


def _wheel_version(archive: ZipFile, names: Sequence[str]) -> str | None:
    """Return the version that a wheel's description tells, if it has one."""
    for name in names:
        if name.endswith(".dist-info/METADATA") and name.count("/") == 1:
            for line in archive.read(name)[:65536].decode("utf-8", "replace").splitlines():
                key, _, value = line.partition(":")
                # The fields stand before the description, so the first match is the field.
                if key.strip().lower() == "version":
                    return value.strip()[:80]
    return None
