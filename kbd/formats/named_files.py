"""Fields of operations that name another file of the workbench, such as a picture to put in.

A record declares such a field by its type, `FilePath`; kbd looks the file up by the rules of all
paths and hands it to `Editable.apply_with_files` under the text that the operation has.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

import msgspec

__all__ = ["FilePath", "named_files"]

_MARK = "kbd.names_file"

FilePath = Annotated[str, msgspec.Meta(description="A file of the workbench.", extra={_MARK: True})]
"""The path of another file of the workbench, as the type of a field of an operation."""


def named_files(
    records: Sequence[type[msgspec.Struct]], operations: Sequence[Any]
) -> tuple[str, ...]:
    """Return the paths that operations name in fields of type `FilePath`, each once, in order.

    Fields of the operations themselves count, optional ones too, and those of the records in their
    lists.

    Args:
        records: The operations that a format takes, tagged by `op`.
        operations: As a model or a client gives them; what is ill-formed names nothing here, for
            it is refused later.
    """
    fields = {str(record.__struct_config__.tag): _path_fields(record) for record in records}
    lists = {str(record.__struct_config__.tag): _listed_fields(record) for record in records}
    if not any(fields.values()) and not any(lists.values()):
        return ()
    found: dict[str, None] = {}
    for operation in operations:
        tag = operation.get("op") if isinstance(operation, Mapping) else None
        if not isinstance(tag, str):
            continue
        paths = [operation.get(name) for name in fields.get(tag, ())]
        for name, inner in lists.get(tag, {}).items():
            items = operation.get(name)
            for item in items if isinstance(items, Sequence) else ():
                paths += [item.get(each) for each in inner] if isinstance(item, Mapping) else ()
        found.update((path, None) for path in paths if isinstance(path, str))
    return tuple(found)


def _path_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(
        field.encode_name for field in msgspec.structs.fields(record) if _names_file(field.type)
    )


def _listed_fields(record: type[msgspec.Struct]) -> dict[str, tuple[str, ...]]:
    """Return the fields that are lists of records with such fields, and these."""
    found = {}
    for field in msgspec.structs.fields(record):
        inner = [name for each in _listed_records(field.type) for name in _path_fields(each)]
        if inner:
            found[field.encode_name] = tuple(inner)
    return found


def _listed_records(kind: Any) -> list[type[msgspec.Struct]]:
    """Return the records of a type that is a tuple of such, with or without a description."""
    if get_origin(kind) is Annotated:
        return _listed_records(get_args(kind)[0])
    if get_origin(kind) is not tuple:
        return []
    return [
        each
        for each in get_args(kind)
        if isinstance(each, type) and issubclass(each, msgspec.Struct)
    ]


def _names_file(kind: Any) -> bool:
    """Tell whether a field's type is `FilePath`, or that or nothing."""
    for meta in getattr(kind, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and (meta.extra or {}).get(_MARK):
            return True
    return any(_names_file(each) for each in get_args(kind) if each is not str)
