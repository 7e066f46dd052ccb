"""Numbers of pages as people write them, of a file whose pages are counted and of one not yet."""

import pytest

from kbd.errors import ValidationFailed
from kbd.formats.page_numbers import MAX_PAGES, format_page_numbers, parse_page_numbers


@pytest.mark.parametrize("count", [9, None])
@pytest.mark.parametrize(
    ("text", "pages"), [("1", (1,)), ("1-3", (1, 2, 3)), (" 7 - 8, 2,2", (7, 8, 2))]
)
def test_pages_are_named_by_numbers_and_ranges(
    text: str, pages: tuple[int, ...], count: int | None
) -> None:
    """Each once, in their order; and written again they mean the same."""
    assert parse_page_numbers(text, count, "a.pdf") == pages
    assert parse_page_numbers(format_page_numbers(pages), count, "a.pdf") == pages


@pytest.mark.parametrize("count", [9, None])
@pytest.mark.parametrize("text", ["", "0", "3-1", "1-", "-2", "1,,2", "²", "1-2-3", "1-999999999"])
def test_what_names_no_pages_is_refused(text: str, count: int | None) -> None:
    """Before pages are listed, and whether it is known how many there are or not."""
    with pytest.raises(ValidationFailed):
        parse_page_numbers(text, count, "a.pdf")


def test_only_what_is_counted_is_compared_with_the_count() -> None:
    """Page 12 of a file with 9 is refused; of one that is not counted yet it is page 12."""
    assert parse_page_numbers("12", None, "a.pdf") == (12,)
    with pytest.raises(ValidationFailed, match="has 9 pages"):
        parse_page_numbers("12", 9, "a.pdf")
    with pytest.raises(ValidationFailed, match="give fewer"):
        parse_page_numbers(f"1-{MAX_PAGES},{MAX_PAGES + 5}", None, "a.pdf")
