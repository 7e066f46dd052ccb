"""Styles in which people and programs write numbers: marks, signs, currencies."""

from collections.abc import Callable
from decimal import Decimal

__all__ = [
    "NARROW",
    "NBSP",
    "accounting",
    "after",
    "before",
    "english",
    "french",
    "german",
    "grouped",
    "indian",
    "narrow_french",
    "percent",
    "plus",
    "point_to_comma",
    "spaced",
    "swiss",
    "swiss_curly",
    "trailing",
    "typographic",
]

Style = Callable[[Decimal], str]

NBSP, NARROW = "\u00a0", "\u202f"


def grouped(thousands: str, decimal: str) -> Style:
    """Return the style with these marks, groups of three."""

    def write(value: Decimal) -> str:
        marked = f"{value:,f}".replace(",", "\0").replace(".", decimal)
        return marked.replace("\0", thousands)

    return write


german = grouped(".", ",")
english = grouped(",", ".")
french = grouped(NBSP, ",")
narrow_french = grouped(NARROW, ",")
spaced = grouped(" ", ",")
swiss = grouped("'", ".")
swiss_curly = grouped("\u2019", ".")
point_to_comma = grouped("", ",")


def indian(value: Decimal) -> str:
    """Write a number in groups of two above the thousands: 12,34,567.00."""
    whole, point, rest = f"{abs(value):f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    groups = [head[max(0, at - 2) : at] for at in range(len(head), 0, -2)][::-1]
    return ("-" if value < 0 else "") + ",".join([*groups, tail]) + point + rest


def before(sign: str, style: Style) -> Style:
    """Return the style with a sign of currency before the figures, behind a minus."""

    def write(value: Decimal) -> str:
        return ("-" if value < 0 else "") + sign + style(abs(value))

    return write


def after(sign: str, style: Style) -> Style:
    """Return the style with a sign behind the number."""
    return lambda value: style(value) + sign


def accounting(style: Style) -> Style:
    """Return the style with parentheses around what is negative."""
    return lambda value: f"({style(abs(value))})" if value < 0 else style(value)


def trailing(style: Style) -> Style:
    """Return the style with the minus behind the number."""
    return lambda value: style(abs(value)) + ("-" if value < 0 else "")


def typographic(style: Style) -> Style:
    """Return the style with the minus of typesetters, U+2212."""
    return lambda value: style(value).replace("-", "\u2212")


def plus(style: Style) -> Style:
    """Return the style with a plus before what is positive."""
    return lambda value: ("+" if value > 0 else "") + style(value)


def percent(style: Style) -> Style:
    """Return the style of whole percents: 12.5 as 12.5%."""
    return after("%", style)
