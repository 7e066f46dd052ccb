"""TOML read and written, by libraries that are imported when a document is first met.

They cost 18 to 39 ms, which a start of the daemon need not spend.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["dump_toml", "parse_toml"]


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML document.

    Raises:
        ValueError: It is none; the message has the line and the column.
        RecursionError: It is nested too deep.
    """
    import tomllib  # noqa: PLC0415 - see the module

    return tomllib.loads(text)


def dump_toml(values: Mapping[str, Any]) -> str:
    """Return values as a TOML document."""
    import tomli_w  # noqa: PLC0415 - see the module

    return tomli_w.dumps(values)
