"""Handler of an office format: a table of what does the work of each capability.

The daemon imports handlers, and nothing that they need; a worker preloads the modules of the table.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats import (
    Applied,
    AssetPick,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Readable,
    Reading,
    Receiptable,
    Region,
    Source,
    Styled,
)

__all__ = ["OfficeFormat"]


class OfficeFormat(FormatHandler, Mappable, Readable, Editable, Styled, Receiptable):
    """A format whose capabilities are functions of modules that are imported when they are called.

    A derived class declares itself as every handler does, and `functions`. For more capabilities
    it adds their methods, which call `function`.
    """

    functions: ClassVar[Mapping[str, str]] = {}
    """What does the work, as "module:function", by the method that it stands for; it takes the
    method's arguments. Their modules are what is preloaded."""

    def __init_subclass__(cls) -> None:
        """Have workers preload the modules of the functions."""
        super().__init_subclass__()
        modules = (name.partition(":")[0] for name in cls.functions.values())
        cls.preload = tuple(dict.fromkeys(modules))

    def function(self, method: str) -> Callable[..., Any]:
        """Return what does the work of a method; its module is imported."""
        found: Callable[..., Any] = pkgutil.resolve_name(self.functions[method])
        return found

    def info(self, source: Source) -> dict[str, Any]:
        """Return the few facts that cost little."""
        found: dict[str, Any] = self.function("info")(source)
        return found

    def map(self, source: Source) -> dict[str, Any]:
        """Return the structure."""
        found: dict[str, Any] = self.function("map")(source)
        return found

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a region."""
        found: Reading = self.function("read")(source, region)
        return found

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text with its places."""
        found: Iterator[Passage] = self.function("passages")(source)
        return found

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Apply operations to a new file or to one that there is."""
        found: Applied = self.function("apply")(source, operations, target)
        return found

    def receipt_facts(
        self, versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
    ) -> dict[str, Any]:
        """Return what differs between versions of a file, part by part."""
        found: dict[str, Any] = self.function("receipt_facts")(versions, steps, limit)
        return found

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return how a file looks, and what of it can be copied."""
        found: dict[str, Any] = self.function("get_styles")(source, sheet)
        return found

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Copy looks and media into another file."""
        found: Applied = self.function("copy_assets")(source, into, picks, target)
        return found
