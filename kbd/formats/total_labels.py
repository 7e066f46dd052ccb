"""Labels of rows that sum others up, as people write them in many languages."""

import re

__all__ = ["is_total_label"]

_TOTAL = re.compile(
    r"((grand|sub|net|running)[ -]?)?totals?|sum|balance|(gesamt|zwischen|end)?summe|gesamt|saldo"
    r"|insgesamt|total g[ée]n[ée]ral|sous[ -]?total|totale|totaal|somme|suma|soma|razem|celkem"
    r"|summa|yhteensä|toplam|összesen|итого|всего|合計|小計|總計|总计|合计|小计|총계|합계",
    re.IGNORECASE,
)


def is_total_label(text: str) -> bool:
    """Tell whether a cell's whole text is the label of a total: "Total", "Summe:"."""
    return _TOTAL.fullmatch(text.strip().rstrip(":").rstrip()) is not None
