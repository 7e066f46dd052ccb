"""Labels of totals, and of what remarks on them."""

from kbd.formats import (
    STATISTIC_LABELS,
    TotalLabel,
    count_label,
    remarks_on_total,
    statistic_label,
    total_label,
    weak_label,
)


def test_the_words_of_remarks() -> None:
    """Words that compare a total or are a part of it, beside figures and units; no items."""
    for text in ("Soll", "Soll (h)", "davon MwSt 19 %", "VAT 20%", "Budget 2024",
                 "Differenz zu Mai", "inkl. 19 % USt", "Target", "TVA", "Vorjahr"):  # fmt: skip
        assert remarks_on_total(text), text
    for text in ("", "Target Ltd", "Budget hotel", "Planer", "Miete", "Islay", "a" * 100, "17"):
        assert not remarks_on_total(text), text


def test_the_words_of_statistics() -> None:
    """Labels of how rows spread in many languages, each found by one of the stems; no hours."""
    for text, kind in (("StdDev", "deviation"), ("Std. Dev.:", "deviation"),
                       ("Standardabweichung", "deviation"), ("Écart-type", "deviation"),
                       ("MEDIAN", "median"), ("médiane", "median"), ("中位数", "median"),
                       ("Varianz", "variance")):  # fmt: skip
        label = statistic_label(text)
        assert label is not None, text
        assert label.kind == kind
        assert any(stem in text.lower() for stem in STATISTIC_LABELS), text
    for text in ("Std", "SD", "Median Street", "Deviation"):
        assert statistic_label(text) is None, text


def test_the_sums_of_lists_of_accounts() -> None:
    """Stars and words of results may label sums, where "sum" behind other words is of a name."""
    for text in ("* 4000", "** 40", "*"):
        label = weak_label(text)
        assert label is not None, text
        assert label.is_weak
    for text, is_whole in (("Ergebnis", True), ("Overall Result", True), ("Result", True),
                           ("** Summe", True), ("Total Food", False)):  # fmt: skip
        found = total_label(text)
        assert found is not None, text
        assert found.is_whole is is_whole
    for text in ("Lump sum", "Result of the match", "5 * 4", "Test result"):
        assert total_label(text) is None, text
        assert weak_label(text) is None, text


def test_labels_that_count() -> None:
    """A text may say how many rows there are; a number in the midst of words says nothing."""
    for text in ("Items: 3", "Orders (3)", "3 rows", "(3 Zeilen)", "Anzahl = 3"):
        assert count_label(text) == TotalLabel("sum", is_whole=False, count=3), text
    assert count_label("1,204 rows") == TotalLabel("sum", is_whole=False, count=1204)
    for text in ("Items", "3", "Room 3", "A3", "2024-03-01", "3: x 4", "12:30", "Version 1.2"):
        assert count_label(text) is None


def test_sums_beside_numbers_of_accounts() -> None:
    """What "sum" and a number of what is summed up label is a total; a band is none."""
    for text in ("Sum 1000 Sales", "Suma 1000", "Σ 1000", "1000 Sales sum", "** Sum 10 Sales **"):
        assert total_label(text) == TotalLabel("sum", is_whole=False)
    for text in ("Sum 41", "Sum Ting", "Dim Sum 100"):
        assert total_label(text) is None, text
