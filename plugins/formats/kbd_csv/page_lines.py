"""Lines of pages between the rows of printed lists: "Page 1 of 2", alone in its row."""

import re
from collections.abc import Sequence

__all__ = ["are_pages_apart", "is_page_line", "page_form"]

_WORDS = (
    r"page|pages|pg|p|seite|blatt|s|pagina|página|pág|pag|strona|strana|stranica|str|sida|side|sivu"
    r"|oldal|sayfa|страница|стр|сторінка|σελίδα"
)
_OF = r"of|von|aus|de|di|van|z|ze|od|av|af|sur|su|из|з|από|/"
_PAGE = re.compile(rf"\W*(?:{_WORDS})\b[.:#]?\s*[0-9]{{1,6}}\W*", re.IGNORECASE)
_PAGE_OF = re.compile(
    rf"\W*(?:(?:{_WORDS})\b[.:#]?\s*[0-9]{{1,6}}\s*(?:{_OF})\s*[0-9]{{1,6}}"
    r"|第\s*[0-9]{1,6}\s*(?:页|頁|ページ).{0,12}"
    r"|[0-9]{1,6}\s*(?:页|頁|ページ)"
    r"|[0-9]{1,6}\s*/\s*[0-9]{1,6}\s*(?:页|頁|ページ))\W*",
    re.IGNORECASE,
)
_LEAST_WIDTH = 3
"""Columns of a table in which "Page 3" alone is no value; "Page 3 of 4" is none of two."""
_SHARE = 1 / 3
"""As many of the rows are lines of pages, if pages are what the table is about."""


def is_page_line(fields: Sequence[str], width: int) -> bool:
    """Tell whether a row of a table of some width has the number of a page and nothing else."""
    valued = [field for field in fields if field and not field.isspace()]
    if len(valued) != 1 or width < 2 or len(valued[0]) > 40:
        return False
    if _PAGE_OF.fullmatch(valued[0]) is not None:
        return True
    return width >= _LEAST_WIDTH and _PAGE.fullmatch(valued[0]) is not None


def are_pages_apart(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Tell whether numbers of pages are no values of a table, by its first rows.

    They are if a row has one beside other values, or if it is what very many rows have.
    """
    lines = sum(is_page_line(row, width) for row in rows)
    if lines > _SHARE * len(rows):
        return False
    return not any(
        sum(1 for field in row if field) > 1
        and any(_PAGE_OF.fullmatch(field) or _PAGE.fullmatch(field) for field in row if field)
        for row in rows
    )


def page_form(fields: Sequence[str]) -> tuple[str, ...] | None:
    """Return what a line says on each page, without its numbers; None if it has none."""
    form = tuple(re.sub("[0-9]+", "0", field.strip()) for field in fields)
    return form if any("0" in field for field in form) else None
