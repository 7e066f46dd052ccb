"""Texts that stand where a value is missing ("-", "n/a", "#NV"), in columns of numbers or dates."""

__all__ = ["MISSING_TEXTS"]

MISSING_TEXTS = frozenset(
    (
        "", "-", "--", "–", "—", ".", "?", "n/a", "na", "n.a.", "#n/a", "#na", "#nv", "nan",
        "null", "none", "nil", "k.a.", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!",
    )
)  # fmt: skip
"""They, in lower case, blanks around them removed; the errors are those of spreadsheets."""
