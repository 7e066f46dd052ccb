"""Long lists, read page by page: all of one, or its newest rows.

No single answer is then long for the daemon to make, or for a client to wait for.
"""

import argparse
from collections.abc import Iterator

from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["PAGE_ROWS", "add_limit", "all_pages", "each_page", "newest_rows", "render_total"]

# As in `link`: typing would cost `kbd status` 9 ms, should it list something one day.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PAGE_ROWS = 1000
"""How many rows are asked for at once."""


def all_pages(
    client: Client,
    method: str,
    params: "dict[str, Any] | None",
    field: str,
    *,
    slow: bool = False,
) -> "list[dict[str, Any]]":
    """Return all rows of a list.

    Args:
        client: The connection.
        method: The method that lists them; it takes `limit` and `cursor`.
        params: Its other parameters.
        field: The field of its answer with the rows.
        slow: As for `call`.

    Raises:
        RequestRefused: As for `call`.
        Stop: Likewise.
    """
    pages = each_page(client, method, params, slow=slow)
    return [row for page in pages for row in page[field]]


def each_page(
    client: Client,
    method: str,
    params: "dict[str, Any] | None",
    *,
    rows: int = PAGE_ROWS,
    slow: bool = False,
) -> "Iterator[dict[str, Any]]":
    """Yield the answers of a list, page by page, each asked for when it is wanted.

    Args:
        client: The connection.
        method: As for `all_pages`.
        params: Likewise.
        rows: How many rows a page has at most.
        slow: As for `call`.

    Raises:
        RequestRefused: As for `call`.
        Stop: Likewise.
    """
    asked = {**(params or {}), "limit": rows}
    while True:
        page = call(client, method, asked, slow=slow)
        yield page
        if "next_cursor" not in page:
            return
        asked["cursor"] = page["next_cursor"]


def newest_rows(
    client: Client,
    method: str,
    params: "dict[str, Any]",
    field: str,
    count: int,
    *,
    slow: bool = False,
) -> "dict[str, Any]":
    """Return an answer that has the newest rows of a list, the oldest of them first.

    Args:
        client: The connection.
        method: As for `all_pages`; it takes `descending`, too.
        params: Likewise.
        field: Likewise.
        count: How many rows.
        slow: As for `call`.

    Raises:
        RequestRefused: As for `call`.
        Stop: Likewise.
    """
    newest: list[dict[str, Any]] = []
    answer: dict[str, Any] = {}
    asked = {**params, "descending": True}
    for answer in each_page(client, method, asked, rows=min(count, PAGE_ROWS), slow=slow):
        newest += answer[field]
        if len(newest) >= count:
            break
    answer.pop("next_cursor", None)
    return {**answer, field: newest[:count][::-1]}


def add_limit(parser: "argparse.ArgumentParser | argparse._ArgumentGroup", rows: str) -> None:
    """Add `--limit` to a command that lists such rows."""
    parser.add_argument("--limit", type=_count, metavar="N", help=f"only the newest N {rows}")


def render_total(shown: int, total: int, rows: str, which: str = "newest") -> list[str]:
    """Return the line that says how many rows there are, if some are left out."""
    return [f"… the {which} {shown} of {total} {rows}"] if shown < total else []


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no number from 1")
