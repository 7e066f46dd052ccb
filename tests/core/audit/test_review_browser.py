"""The page of a review in a real browser: walked and filtered, without a fault or a request."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsing import count_of, opened, started
from kbd.core.audit.review_page.document import page_of
from reviewed_drafts import HOSTILE, review_of, varied_review

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHANGES = sum(len(each.diff.changes) for each in varied_review().files if each.diff is not None)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """One browser for all tests here."""
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of files of all kinds, one of them full of hostile texts."""
    page = tmp_path_factory.mktemp("review") / "review.html"
    page.write_text(page_of(varied_review()), "utf-8")
    return page


def _here(page: "Page") -> str:
    found: str = page.evaluate("document.querySelector('.change.here')?.id ?? ''")
    return found


def _shown(page: "Page") -> int:
    found: int = page.evaluate(
        "changes.filter((change, place) => fits[place] && change.checkVisibility()).length"
    )
    return found


def test_changes_are_walked_by_keys(browser: "Browser", varied: Path) -> None:
    """Keys go from change to change and file to file; cells are marked with their change."""
    with opened(browser, varied) as (page, *_):
        page.keyboard.press("j")
        assert _here(page) == "f1c0"
        assert page.locator("#at").inner_text() == f"1 of {CHANGES}"
        assert count_of(page, ".grid td.here") == 2
        for _ in range(CHANGES + 3):
            page.keyboard.press("j")
        assert page.locator("#at").inner_text() == f"{CHANGES} of {CHANGES}"
        assert page.locator("#on").is_disabled()
        page.keyboard.press("k")
        assert page.locator("#at").inner_text() == f"{CHANGES - 1} of {CHANGES}"
        for _ in range(20):
            page.keyboard.press("p")
        page.keyboard.press("n")
        assert page.locator(".list [aria-current]").get_attribute("href") == "#f2"
        page.keyboard.press("j")
        assert _here(page) == "f2c0"
        assert page.evaluate("isSeen(document.querySelector('.change.here'))")


@pytest.mark.full
def test_hostile_texts_do_nothing_but_show(browser: "Browser", varied: Path) -> None:
    """Markup in any text is text: nothing runs, loads or breaks out; what is hidden is named."""
    with opened(browser, varied) as (page, *_):
        words = page.locator("#f8 ~ *, article[data-file='8']").first.inner_text()
        assert "</script><img src=x onerror=alert(1)><script>" in words
        assert "U+202Egnp.exeU+202C" in words
        assert count_of(page, "article.file") == len(varied_review().files)
        assert count_of(page, "img:not([src^='data:'])") == 0
        assert not any(mark in page.locator("body").inner_text() for mark in "\x1b\u202e\u200b")
    assert "javascript:" in HOSTILE


@pytest.mark.full
def test_changes_are_filtered(browser: "Browser", varied: Path) -> None:
    """By kind, by file and by words, together; what is left is walked; Escape ends it."""
    with opened(browser, varied) as (page, *_):
        assert _shown(page) == CHANGES
        page.keyboard.press("3")  # without the changed ones
        assert _shown(page) == sum(
            each.kind != "changed"
            for file in varied_review().files
            if file.diff is not None
            for each in file.diff.changes
        )
        page.get_by_label("Show only the file").select_option("2")
        assert count_of(page, "article.file:visible") == 1
        page.locator("body").click(position={"x": 5, "y": 5})
        page.keyboard.press("j")
        assert _here(page).startswith("f2c")
        page.keyboard.press("Escape")
        assert _shown(page) == CHANGES
        page.keyboard.press("/")
        page.keyboard.insert_text("harbor 1")
        page.locator("#at", has_text="1 change").wait_for()
        assert count_of(page, "article.file:visible") == 1
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        assert _shown(page) == CHANGES


@pytest.mark.full
def test_the_theme_is_switched(browser: "Browser", varied: Path) -> None:
    """As the system has it, light, dark; and paper is always light."""
    ground = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, varied, color_scheme="dark") as (page, *_):
        dark = page.evaluate(ground)
        page.keyboard.press("t")
        light = page.evaluate(ground)
        assert light != dark
        page.keyboard.press("t")
        assert page.evaluate(ground) == dark
        page.emulate_media(media="print")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.full
def test_the_page_is_whole_without_scripts(browser: "Browser", varied: Path) -> None:
    """Every change is seen, and no control that would do nothing."""
    with opened(browser, varied, java_script_enabled=False) as (page, *_):
        assert page.locator(".change:visible").count() == CHANGES
        assert count_of(page, "form:visible, button:visible") == 0


@pytest.mark.full
@pytest.mark.parametrize("width", [360, 600, 1280])
def test_nothing_is_wider_than_the_window(browser: "Browser", varied: Path, width: int) -> None:
    """Grids scroll in themselves; the page does not."""
    with opened(browser, varied, viewport={"width": width, "height": 800}) as (page, *_):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.full
def test_the_page_may_not_fetch_or_make_markup(browser: "Browser", varied: Path) -> None:
    """Even a script of the page could load nothing, and could not turn text into markup."""
    with opened(browser, varied) as (page, faults, requests):
        tried = page.evaluate(
            """async () => {
                const tried = [];
                addEventListener("securitypolicyviolation",
                    (event) => tried.push(event.effectiveDirective));
                const image = new Image();
                image.src = "https://example.org/a.png";
                await new Promise((done) => { image.onerror = done; image.onload = done; });
                await fetch("https://example.org/").catch(() => {});
                try { document.body.innerHTML = "<b>x</b>"; } catch { tried.push("no markup"); }
                await new Promise((done) => setTimeout(done));
                return tried;
            }"""
        )

        assert {"img-src", "connect-src", "no markup"} <= set(tried)
        requests.clear()  # What the policy stops is told as a request, too.
        faults.clear()


@pytest.mark.full
def test_a_draft_without_changes_is_a_page(browser: "Browser", tmp_path: Path) -> None:
    """Nothing to walk to and nothing to filter, and no fault."""
    empty = tmp_path / "empty.html"
    empty.write_text(page_of(review_of()), "utf-8")
    with opened(browser, empty) as (page, *_):
        page.keyboard.press("j")
        page.keyboard.press("n")
        assert page.locator("#at").inner_text() == "no changes"
