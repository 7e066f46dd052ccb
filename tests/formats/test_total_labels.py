"""Labels of totals, and of what remarks on them."""

from kbd.formats import remarks_on_total


def test_the_words_of_remarks() -> None:
    """Words that compare a total or are a part of it, beside figures and units; no items."""
    for text in ("Soll", "Soll (h)", "davon MwSt 19 %", "VAT 20%", "Budget 2024",
                 "Differenz zu Mai", "inkl. 19 % USt", "Target", "TVA", "Vorjahr"):  # fmt: skip
        assert remarks_on_total(text), text
    for text in ("", "Target Ltd", "Budget hotel", "Planer", "Miete", "Islay", "a" * 100, "17"):
        assert not remarks_on_total(text), text
