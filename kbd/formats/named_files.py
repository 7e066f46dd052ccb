"""Fields of operations that name another file of the workbench, such as a picture to put in.

A record declares such a field by its type, `FilePath`; kbd looks the file up by the rules of all
paths and hands it to `Editable.apply_with_files` under the text that the operation has.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

import msgspec

__all__ = ["FilePath", "named_files"]

_MARK = "kbd.names_file"

FilePath = Annotated[str, msgspec.Meta(description="A file of the workbench.", extra={_MARK: True})]
"""The path of another file of the workbench, as the type of a field of an operation."""


def named_files(
    records: Sequence[type[msgspec.Struct]], operations: Sequence[Any]
) -> tuple[str, ...]:
    """Return the paths that operations name in fields of type `FilePath`, each once, in order.

    Fields of the operations themselves count, optional ones too, not those of records inside them.

    Args:
        records: The operations that a format takes, tagged by `op`.
        operations: As a model or a client gives them; what is ill-formed names nothing here, for
            it is refused later.
    """
    fields = {str(record.__struct_config__.tag): _path_fields(record) for record in records}
    if not any(fields.values()):
        return ()
    found: dict[str, None] = {}
    for operation in operations:
        tag = operation.get("op") if isinstance(operation, Mapping) else None
        for name in fields.get(tag, ()) if isinstance(tag, str) else ():
            path = operation.get(name)
            if isinstance(path, str):
                found.setdefault(path)
    return tuple(found)


def _path_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(
        field.encode_name for field in msgspec.structs.fields(record) if _names_file(field.type)
    )


def _names_file(kind: Any) -> bool:
    """Tell whether a field's type is `FilePath`, or that or nothing."""
    for meta in getattr(kind, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and (meta.extra or {}).get(_MARK):
            return True
    return any(_names_file(each) for each in get_args(kind) if each is not str)
