"""Translator of formulas from one cell to another, as programs read shared ones."""

from openpyxl.formula.translate import Translator

__all__ = ["FormulaTranslator"]


class FormulaTranslator(Translator):
    """Translator of openpyxl that keeps the sheet before a defined name.

    The library's own makes `Rate` of `Sheet2!Rate`, which is another name where both there are.
    """

    @classmethod
    def translate_range(cls, range_str: str, rdelta: int, cdelta: int) -> str:
        """Return a reference as the other cell has it; raises TranslatorError off the sheet."""
        moved: str = super().translate_range(range_str, rdelta, cdelta)  # type: ignore[no-untyped-call]
        _, bare = cls.strip_ws_name(range_str)  # type: ignore[no-untyped-call]
        return range_str if moved == bare else moved
