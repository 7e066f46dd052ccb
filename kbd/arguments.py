"""Conversion of arguments, as models and clients write them, into records. Pure.

Two things are easier on a model here than in a plain conversion. A null for an optional field that
takes no null counts as absent, at any depth: a model that is held to a schema must write every
field. And a refusal tells all that is wrong at once, each fault with its path, what was expected
and the nearest name that there is, so that one more turn mends it.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import inspect

from kbd.errors import ValidationFailed

__all__ = ["record_of"]

MAX_FAULTS = 5
"""As many are told at once; a longer list helps nobody."""

MAX_LOOKED_AT = 2_000
"""As many values are looked at for faults: some 50 ms; the first one is always told."""

MAX_QUOTED = 80
"""As many characters of what was given are said again."""

MAX_NAMES = 30
"""As many fields or values are named where none is near."""

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "bool"), (int, "int"), (float, "float"), (str, "str"), (list, "array"),
    (tuple, "array"), (Mapping, "object"),
)  # fmt: skip

_PLAIN = (
    inspect.IntType, inspect.FloatType, inspect.StrType, inspect.BoolType, inspect.NoneType,
    inspect.LiteralType, inspect.EnumType, inspect.StructType, inspect.DictType,
    inspect.CollectionType,
)  # fmt: skip
"""The types that the walk over a value understands."""

_NESTED = (dict, list)

_Fault = tuple[str, str]
"""Where, as `.cells[0].value`, and what."""


class _Looks:
    """Budget of values that may still be looked at."""

    def __init__(self) -> None:
        self.count = MAX_LOOKED_AT


def record_of(value: Any, kind: Any, where: str = "", named: str = "") -> Any:
    """Convert plain values (as JSON has them) to a record.

    Args:
        value: The values.
        kind: The record, or any other type that msgspec converts to.
        where: What they are called: the paths of faults begin with it.
        named: What is said after a path, to say more of where it is.

    Raises:
        ValidationFailed: They do not fit; the message has every path, up to five.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        info = inspect.type_info(kind)
    fitted = _without_nulls(value, info)
    try:
        return msgspec.convert(fitted, kind)
    except msgspec.ValidationError as fault:
        left = _Looks()
        found = list(_faults(fitted, info, "", left)) or [_plain_fault(str(fault))]
    messages = [f"{_path(where + path)}{named}: {text}" for path, text in found[:MAX_FAULTS]]
    if len(found) > MAX_FAULTS:
        messages.append(f"and {len(found) - MAX_FAULTS if left.count > 0 else 'many'} more")
    raise ValidationFailed("; ".join(text.removeprefix(": ") for text in messages))


def _path(path: str) -> str:
    return path.removeprefix(".")


def _plain_fault(text: str) -> _Fault:
    """Return what msgspec says of a fault that the walk over the types does not know."""
    message, _, path = text.partition(" - at `$")
    return path.rstrip("`"), message[:1].lower() + message[1:]


def _without_nulls(value: Any, info: inspect.Type) -> Any:
    """Leave out each null that stands for an optional field and that the field does not take."""
    match _meant(value, info):
        case inspect.StructType() as record:
            fields = {field.encode_name: field for field in record.fields}
            return {
                name: _without_nulls(part, fields[name].type) if name in fields else part
                for name, part in value.items()
                if part is not None or name not in fields or not _is_absence(fields[name])
            }
        case inspect.DictType(value_type=inner):
            return {name: _without_nulls(part, inner) for name, part in value.items()}
        case inspect.CollectionType(item_type=inner):
            return [
                _without_nulls(part, inner) if part.__class__ in _NESTED else part for part in value
            ]
    return value


def _is_absence(field: inspect.Field) -> bool:
    return not field.required and not _takes_null(field.type)


def _takes_null(info: inspect.Type) -> bool:
    match info:
        case inspect.Metadata(type=inner):
            return _takes_null(inner)
        case inspect.UnionType(types=types):
            return any(_takes_null(each) for each in types)
    return isinstance(info, inspect.AnyType | inspect.NoneType)


def _meant(value: Any, info: inspect.Type) -> inspect.Type | None:
    """Return the type among those allowed that an object or an array is meant as, or None."""
    match info:
        case inspect.Metadata(type=inner):
            return _meant(value, inner)
        case inspect.UnionType(types=types):
            fit = [found for each in types if (found := _meant(value, each)) is not None]
            # Several fit only if the object does not say which of several records it is.
            return fit[0] if len(fit) == 1 else None
        case inspect.StructType(tag_field=str(tag_field), tag=tag) if isinstance(value, dict):
            return info if value.get(tag_field, tag) == tag else None
        case inspect.StructType(array_like=False) | inspect.DictType():
            return info if isinstance(value, dict) else None
        case inspect.CollectionType():
            return info if isinstance(value, list | tuple) else None
    return None


def _faults(value: Any, info: inspect.Type, where: str, left: "_Looks") -> Iterator[_Fault]:
    """Yield what is wrong with a value, while any looks are left."""
    left.count -= 1
    match _meant(value, info):
        case inspect.StructType() as record:
            yield from _faults_of_record(value, record, where, left)
        case inspect.DictType(value_type=inner):
            for name, part in value.items():
                yield from _faults(part, inner, f"{where}.{name[:MAX_QUOTED]}", left)
        case inspect.CollectionType() as listed:
            yield from _faults_of_length(value, listed, where)
            for place, part in enumerate(value):
                if left.count <= 0:
                    return
                yield from _faults(part, listed.item_type, f"{where}[{place}]", left)
        case _:
            yield from _faults_of_leaf(value, _alternatives(info), where)


def _faults_of_record(
    value: Mapping[str, Any], record: inspect.StructType, where: str, left: "_Looks"
) -> Iterator[_Fault]:
    fields = {field.encode_name: field for field in record.fields}
    unknown = (name for name in value if name not in fields and name != record.tag_field)
    for name in islice(unknown, left.count if record.forbid_unknown_fields else 0):
        left.count -= 1
        quoted = name[:MAX_QUOTED]
        yield where, f"object contains unknown field `{quoted}`{_near(quoted, fields)}"
    for name, field in fields.items():
        if name in value:
            yield from _faults(value[name], field.type, f"{where}.{name}", left)
        elif field.required:
            yield where, f"object missing required field `{name}`"


def _faults_of_leaf(value: Any, allowed: tuple[inspect.Type, ...], where: str) -> Iterator[_Fault]:
    """Yield what is wrong with a value that is no record, object or array of an allowed kind."""
    if not all(isinstance(each, _PLAIN) for each in allowed):
        return  # whatever else is allowed, msgspec's own words have to do
    tagged = [each for each in allowed if isinstance(each, inspect.StructType) and each.tag_field]
    fit = [each for each in allowed if _is_kind(value, each)]
    if tagged and isinstance(value, dict):
        yield _fault_of_tag(value, tagged, where)
    elif not fit:
        expected = " | ".join(dict.fromkeys(_kind_of(each) for each in allowed))
        yield where, f"expected `{expected}`, got `{_kind(value)}`"
    else:
        faults = [list(_faults_of_bounds(value, each, where)) for each in fit]
        if all(faults):
            yield from faults[0]


def _fault_of_tag(
    value: Mapping[str, Any], records: Sequence[inspect.StructType], where: str
) -> _Fault:
    """Return what is wrong with an object that says of itself which of several records it is."""
    field, known = str(records[0].tag_field), [str(record.tag) for record in records]
    if field not in value:
        return where, f"object missing required field `{field}`, one of: {', '.join(known)}"
    quoted = _quoted(value[field])
    return f"{where}.{field}", f"invalid value {quoted}{_near(str(value[field]), known)}"


def _faults_of_bounds(value: Any, info: inspect.Type, where: str) -> Iterator[_Fault]:
    """Yield what is wrong with a value of the right kind."""
    match info:
        case inspect.LiteralType(values=known):
            if value not in known:
                names = [str(each) for each in known]
                yield where, f"invalid enum value {_quoted(value)}{_near(str(value), names)}"
        case inspect.EnumType(cls=cls):
            names = [str(each.value) for each in cls]
            if str(value) not in names:
                yield where, f"invalid enum value {_quoted(value)}{_near(str(value), names)}"
        case inspect.IntType() | inspect.FloatType():
            bounds = [
                f"{sign} {bound:g}"
                for sign, bound, is_kept in (
                    (">=", info.ge, info.ge is None or value >= info.ge),
                    (">", info.gt, info.gt is None or value > info.gt),
                    ("<=", info.le, info.le is None or value <= info.le),
                    ("<", info.lt, info.lt is None or value < info.lt),
                )
                if bound is not None and not is_kept
            ]
            if bounds:
                range_text = " and ".join(bounds)
                yield where, f"expected `{_kind_of(info)}` {range_text}, got {_quoted(value)}"
        case inspect.StrType(pattern=pattern):
            yield from _faults_of_length(value, info, where)
            if pattern is not None and re.search(pattern, value) is None:
                yield where, f"expected `str` matching regex {pattern!r}"


def _faults_of_length(
    value: Any, info: inspect.StrType | inspect.CollectionType, where: str
) -> Iterator[_Fault]:
    kind, size = _kind_of(info), len(value)
    if info.min_length is not None and size < info.min_length:
        yield where, f"expected `{kind}` of length >= {info.min_length}, got {size}"
    if info.max_length is not None and size > info.max_length:
        yield where, f"expected `{kind}` of length <= {info.max_length}, got {size}"


def _alternatives(info: inspect.Type) -> tuple[inspect.Type, ...]:
    """Return the kinds that a type allows, each without what is only said of it."""
    match info:
        case inspect.Metadata(type=inner):
            return _alternatives(inner)
        case inspect.UnionType(types=types):
            return tuple(found for each in types for found in _alternatives(each))
    return (info,)


def _is_kind(value: Any, info: inspect.Type) -> bool:
    kind = _kind(value)
    match info:
        case inspect.LiteralType(values=known):
            return kind in {_kind(each) for each in known}
        case inspect.EnumType(cls=cls):
            return kind in {_kind(each.value) for each in cls}
        case inspect.FloatType():
            return kind in ("float", "int")
        case inspect.StructType(array_like=False) | inspect.DictType() | inspect.CollectionType():
            return False  # what fits these was looked into before
    return kind == _kind_of(info)


def _kind(value: Any) -> str:
    """Name the kind of a JSON value as msgspec does."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "null")


def _kind_of(info: inspect.Type) -> str:
    """Name the kind of values that a type stands for."""
    match info:
        case inspect.LiteralType(values=known):
            return _kind(known[0])
        case inspect.NoneType():
            return "null"
        case inspect.StructType() | inspect.DictType():
            return "object"
        case inspect.CollectionType():
            return "array"
    return type(info).__name__.removesuffix("Type").lower()


def _quoted(value: Any) -> str:
    return repr(value[:MAX_QUOTED] if isinstance(value, str) else value)[: MAX_QUOTED + 2]


def _near(name: str, known: Iterable[str]) -> str:
    """Say which name was probably meant, or which there are."""
    names = list(known)
    if near := difflib.get_close_matches(name[:MAX_QUOTED], names, 1):
        return f"; did you mean `{near[0]}`?"
    if not names:
        return "; it has no fields"
    return f"; there are: {', '.join(names[:MAX_NAMES])}{'…' * (len(names) > MAX_NAMES)}"
