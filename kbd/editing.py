"""Edit of a file by its format, the same for a model's tool and a client's method.

Where an edit starts, under which name it lands, what is refused and what is said of it do not
depend on who asks. What is written is put into `Files`; it lands when the call succeeds.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kbd.errors import NotFound, ValidationFailed
from kbd.formats import Applied, AssetPick, Editable, FormatHandler, named_files
from kbd.tools import FileRef, Files, FormatCatalog, Formats
from kbd.types import FileName

__all__ = [
    "Edited",
    "apply_operations",
    "copy_assets",
    "find_named_files",
    "own_file",
    "suffix_names",
]

MAX_SUFFIXES = 6
"""As many suffixes of a format are named; plain text has more than a hundred."""


class Edited(msgspec.Struct, frozen=True):
    """Result of an edit.

    Args:
        name: The file that was written.
        created: Whether it is new.
        applied: How many operations were applied, or assets copied: all of them.
        changed: What each changed.
        warnings: What was skipped or should be looked at, and what the file reaches out to now.
        told: What people must know of figures that were worked out.
        results: What formulas came to, the first of them.
    """

    name: FileName
    created: bool
    applied: int
    changed: tuple[str, ...]
    warnings: tuple[str, ...]
    told: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


async def apply_operations(
    files: Files,
    formats: Formats,
    handler: FormatHandler,
    path: str,
    operations: Sequence[Mapping[str, Any]],
    *,
    create_new: bool = False,
    create_if_missing: bool = False,
    copy_from: str | None = None,
) -> Edited:
    """Apply operations to a file, or make it by them.

    Args:
        files: The workbench's files.
        formats: The formats.
        handler: The format, which is `Editable`.
        path: The file.
        operations: As a model or a client gives them.
        create_new: Make a new file; the path must not exist yet.
        create_if_missing: Make the file if it is missing, else edit it.
        copy_from: Make the new file as a copy of this one first; then it may be all that is done.

    Raises:
        ValidationFailed: The path exists although it shall be new, is of another format, or an
            operation cannot be applied.
        NotFound: The path does not exist and nothing says that it shall be made, or an operation
            names a file that there is not.
        SandboxViolation: A path would leave the workbench.
        FileReadFailed: The file cannot be read.
    """
    if not operations and copy_from is None:
        raise ValidationFailed("operations is empty; give at least one")
    is_new = create_new or (create_if_missing and files.find(path) is None)
    source, name = _start(files, formats, handler, path, copy_from, is_new=is_new)
    staged = files.stage(PurePosixPath(name).suffix)
    named = find_named_files(files, handler, operations)
    applied = await formats.apply(handler, source, operations, staged, named)
    if copy_from is None:
        carried: tuple[str, ...] = ()
        remaining = applied.remaining
    else:
        # What the copy has of it is new under its name.
        known = source.external if source else ()
        carried = known if applied.remaining is None else applied.remaining
        remaining = ()
    external = (*carried, *applied.external)
    files.put(
        name,
        staged,
        external=external,
        remaining=remaining,
        notes=applied.warnings,
        focus=applied.focus,
    )
    created = source is None or copy_from is not None
    return _edited(name, applied, carried, created=created)


def _start(
    files: Files,
    formats: FormatCatalog,
    handler: FormatHandler,
    path: str,
    copy_from: str | None,
    *,
    is_new: bool,
) -> tuple[FileRef | None, FileName]:
    """Return the file that an edit starts from, None for none, and the name of the result."""
    if copy_from is not None:
        source = own_file(formats, handler, files.get(copy_from))
        return source, _new(files, formats, handler, path)
    if is_new:
        return None, _new(files, formats, handler, path)
    source = own_file(formats, handler, _existing(files, path))
    if isinstance(handler, Editable) and handler.new_files_only:
        raise ValidationFailed(
            f"{source.name} stays as it is, for {handler.name} files are not changed; give "
            f"create_new and the path of a new file, with copy_from: {source.name} for a copy of it"
        )
    return source, source.name


def find_named_files(
    files: Files, handler: FormatHandler, operations: Sequence[Mapping[str, Any]]
) -> dict[str, FileRef]:
    """Return the files that operations name in fields of type `kbd.formats.FilePath`.

    Args:
        files: The workbench's files.
        handler: The format that takes the operations.
        operations: As a model or a client gives them.

    Raises:
        SandboxViolation: A path would leave the workbench or is not a legal name.
        NotFound: There is no such file; the message names near matches.
    """
    records = handler.operations if isinstance(handler, Editable) else ()
    return {path: files.get(path) for path in named_files(records, operations)}


async def copy_assets(
    files: Files,
    formats: Formats,
    handler: FormatHandler,
    source_path: str,
    target_path: str,
    picks: Sequence[AssetPick],
) -> Edited:
    """Copy assets of one file into another, which is made if it does not exist.

    Args:
        files: The workbench's files.
        formats: The formats.
        handler: The format of both, which is `Styled`.
        source_path: The file that has the assets.
        target_path: The file that gets them.
        picks: Which assets.

    Raises:
        ValidationFailed: A file is of another format, there is no such asset, or it cannot be
            copied.
        NotFound: There is no file that has them.
        FileReadFailed: A file cannot be read.
    """
    if not picks:
        raise ValidationFailed("assets is empty; give at least one")
    source = own_file(formats, handler, files.get(source_path))
    into = files.find(target_path)
    if into is None:
        name = _new(files, formats, handler, target_path)
    else:
        name = own_file(formats, handler, into).name
    staged = files.stage(PurePosixPath(name).suffix)
    applied = await formats.copy_assets(source, into, picks, staged)
    files.put(
        name,
        staged,
        external=applied.external,
        remaining=applied.remaining,
        notes=applied.warnings,
    )
    return _edited(name, applied, (), created=into is None)


def own_file(formats: FormatCatalog, handler: FormatHandler, file: FileRef) -> FileRef:
    """Return a file if it is of this format.

    Raises:
        ValidationFailed: It is not.
    """
    _check_format(formats, handler, file.name)
    return file


def _existing(files: Files, path: str) -> FileRef:
    try:
        return files.get(path)
    except NotFound as error:
        raise NotFound(
            f"{error.message}; to make a new file, give create_new: true", detail=error.detail
        ) from None


def _new(files: Files, formats: FormatCatalog, handler: FormatHandler, path: str) -> FileName:
    name = files.new(path)
    _check_format(formats, handler, name)
    return name


def _check_format(formats: FormatCatalog, handler: FormatHandler, name: FileName) -> None:
    found = formats.for_name(name)
    if found is None or found.name != handler.name:
        hint = ""
        if found is not None and found.kind == handler.kind and not isinstance(found, Editable):
            hint = (
                f"; files of the format {found.name} are read, not edited: make a new "
                f"{handler.name} file of what it holds"
            )
        raise ValidationFailed(
            f"{name} is not a {handler.name} file ({suffix_names(handler)}){hint}"
        )


def suffix_names(handler: FormatHandler) -> str:
    """Name a format's suffixes; of a format with many, the first few."""
    names = list(handler.suffixes)
    shown = ", ".join(names[:MAX_SUFFIXES])
    more = len(names) - MAX_SUFFIXES
    return shown if more <= 0 else f"{shown} and {more} more"


def _edited(name: FileName, applied: Applied, carried: tuple[str, ...], *, created: bool) -> Edited:
    # Of results the review tells by the cells as they are: a later edit may give them some.
    told = (*applied.warnings, *applied.result_warnings)
    warnings = dict.fromkeys((*told, *carried, *applied.external))
    return Edited(
        name,
        created,
        applied.applied,
        applied.changed,
        tuple(warnings),
        applied.told,
        applied.results,
    )
