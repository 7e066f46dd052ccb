"""Arguments of a tool checked against its entry of the registry. Pure."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from kbd.errors import ValidationFailed

__all__ = ["checked"]

_TYPES: Mapping[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}


def checked(args: Any, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return arguments as a tool expects them: of their types, with the defaults.

    A number in quotation marks is a number, as models write it; null is what is left out.

    Args:
        args: What was given.
        entry: `{"args": {name: {"type", "required", "default"}}}`; a type that is none of str,
            int, float, bool, list and dict takes anything. None for a tool that takes anything.

    Raises:
        ValidationFailed: Something is missing, unknown or of another type; all of it is told.
    """
    if not isinstance(args, Mapping):
        raise ValidationFailed(f"the arguments are {type(args).__name__}, not an object")
    if entry is None:
        return dict(args)
    known: Mapping[str, Mapping[str, Any]] = entry.get("args", {})
    out: dict[str, Any] = {}
    faults = []
    for name in args:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            faults.append(f"{name} is unknown" + (f", did you mean {near[0]}?" if near else ""))
    for name, told in known.items():
        given = args.get(name)
        if given is None:
            if told.get("required"):
                faults.append(f"{name} is missing")
            elif "default" in told:
                out[name] = told["default"]
            continue
        out[name] = value = _value(given, told.get("type", ""))
        wanted = _TYPES.get(told.get("type", ""))
        if wanted is not None and not _fits(value, wanted):
            faults.append(f"{name} is {type(given).__name__}, not {wanted.__name__}")
    if faults:
        takes = ", ".join(known) or "no arguments"
        raise ValidationFailed(f"{'; '.join(faults)}; it takes {takes}")
    return out


def _fits(value: Any, wanted: type) -> bool:
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))


def _value(given: Any, kind: str) -> Any:
    """Return what a model meant: 5 for "5" and 5.0, true for "true"."""
    try:
        match kind, given:
            case "int", str():
                return int(given)
            case "int", float() if given.is_integer():
                return int(given)
            case "float", str() | int() if not isinstance(given, bool):
                return float(given)
            case "bool", "true" | "True":
                return True
            case "bool", "false" | "False":
                return False
            case _:
                return given
    except ValueError:
        return given
