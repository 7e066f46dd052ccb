"""A real browser without a network, and what it reports of a page that it opens."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:  # Where it is missing, the tests that need it are skipped, and no others.
    from playwright.sync_api import Browser, Dialog, Page

__all__ = ["Opened", "count_of", "fitting", "opened", "started"]

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Opened(NamedTuple):
    """A page, and what must stay empty: errors and warnings, and requests but for the page."""

    page: "Page"
    faults: list[str]
    requests: list[str]


@contextmanager
def started() -> "Iterator[Browser]":
    """Start the browser; a test that cannot is skipped with the reason."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser is installed here: none of {', '.join(NAMES)}")
    with playwright_api.sync_playwright() as playwright:
        # Its own sandbox needs what a container does not give; the pages are ours.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: "Browser", file: Path, fragment: str = "", **options: Any) -> Iterator[Opened]:
    """Open a file from the disk with the network off.

    Args:
        browser: Where.
        file: The page.
        fragment: What its address ends with: "#step-12".
        options: Of the context: viewport, color_scheme, java_script_enabled.
    """
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    address = f"{file.resolve().as_uri()}{fragment}"
    found = Opened(page, [], [])
    page.on("console", lambda said: found.faults.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: found.faults.append(str(error)))

    def asked(dialog: "Dialog") -> None:
        found.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", asked)
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(address)
    yield found
    assert found.faults == []
    assert [url for url in found.requests if url != file.resolve().as_uri()] == []
    context.close()


def count_of(page: "Page", selector: str) -> int:
    """Return how many elements a selector finds."""
    return page.locator(selector).count()


def fitting(page: "Page") -> list[int]:
    """Return the numbers of the steps that the list shows."""
    found: list[int] = page.evaluate(
        "[...document.querySelectorAll('.list li[data-step]:not([hidden])')]"
        ".map((row) => Number(row.dataset.step))"
    )
    return found
