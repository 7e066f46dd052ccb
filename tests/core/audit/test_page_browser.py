"""The page of a run in a real browser: what no reader of its text can prove.

That the page of the demo's run is walked through is in `test_demo.py`, which has that run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsing import count_of, fitting, opened, started
from kbd.core.audit.page.document import page_of
from kbd.requests.replays import Step
from paged_runs import CONTENTS, HOSTILE, long_run, run_info, varied_run

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = 1000


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """One browser for all tests here."""
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the varied run: steps of all kinds, full of hostile texts."""
    return _written(tmp_path_factory.mktemp("varied"), varied_run())


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run of 1,000 steps."""
    return _written(tmp_path_factory.mktemp("long"), long_run(LONG))


def _written(folder: Path, steps: list[Step]) -> Path:
    page = folder / "page.html"
    page.write_text(page_of(run_info("failed"), HOSTILE, steps, CONTENTS), "utf-8")
    return page


@pytest.mark.full
def test_hostile_texts_do_nothing_but_show(browser: "Browser", varied: Path) -> None:
    """Markup in any text is text: nothing runs, loads or breaks out; what is hidden is named."""
    with opened(browser, varied) as (page, *_):
        told = page.evaluate(
            """articles.map((article, place) => {
                walkTo(place);
                showAll();
                return article.innerText;
            })"""
        )
        assert len(told) == len(varied_run())
        for words in (told[0], told[3], told[7], told[20]):  # asked, sent, said, a reason
            assert "</script><img src=x onerror=alert(1)><script>" in words
            assert "ESC[2JgoneNUL" in words
            assert "U+202Egnp.exeU+202C" in words

        assert count_of(page, "img") == 0
        assert count_of(page, "script:not([type])") == 2
        assert count_of(page, "article") == len(varied_run())
        assert not any(mark in page.locator("body").inner_text() for mark in "\x1b\u202e\u200b")


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
                try { Function("return 1")(); } catch { tried.push("no code"); }
                await new Promise((done) => setTimeout(done));
                return tried;
            }"""
        )

        assert {"img-src", "connect-src", "no markup", "no code"} <= set(tried)
        requests.clear()  # What the policy stops is told as a request, too.
        faults.clear()


@pytest.mark.full
def test_the_plan_and_the_files_stand_as_they_did(browser: "Browser", varied: Path) -> None:
    """At each step the plan and each file's version are those of that step."""
    states: list[str] = []
    versions = 0
    with opened(browser, varied) as (page, *_):
        for step in varied_run():
            states = [item.state for item in step.items] or states
            versions += len(step.files)
            shown = page.locator("#plan li").evaluate_all("all => all.map(li => li.dataset.state)")

            assert shown == states
            assert count_of(page, "aside tr.later") == 3 - versions
            assert count_of(page, "aside tr.here") == min(versions, 1)
            page.keyboard.press("j")
    assert states == ["done", "failed", "open"]
    assert versions == 3


@pytest.mark.full
def test_failures_and_changes_are_filtered(browser: "Browser", varied: Path) -> None:
    """The keys, the boxes and the choices narrow the list; Escape ends that."""
    with opened(browser, varied) as (page, *_):
        page.keyboard.press("f")
        assert fitting(page) == [6, 8, 21]
        page.keyboard.press("c")
        assert fitting(page) == [21]
        assert page.locator("article.open").get_attribute("id") == "step-21"
        page.keyboard.press("Escape")
        assert len(fitting(page)) == len(varied_run())
        page.get_by_label("Item", exact=True).select_option("1")
        page.get_by_label("Kind").select_option("tool")
        assert fitting(page) == [13]


@pytest.mark.full
@pytest.mark.parametrize("words", ["onerror=alert(1)", "[2J", "${title} $", "a/b-c.d*", "LOCATION"])
def test_what_is_searched_is_text(browser: "Browser", varied: Path, words: str) -> None:
    """Signs that mean something elsewhere are looked for as they are; what is not there is told."""
    with opened(browser, varied) as (page, *_):
        page.keyboard.press("/")
        page.keyboard.insert_text(words)
        page.locator("#matches", has_text=re.compile("in [0-9]+ steps|not found")).wait_for()
        is_there = words in HOSTILE
        assert page.locator("#matches").inner_text().endswith("steps") == is_there
        assert (len(fitting(page)) < len(varied_run())) or not is_there
        assert page.locator("#none").is_visible() != is_there


@pytest.mark.full
def test_matches_are_gone_through(browser: "Browser", varied: Path) -> None:
    """Each match is come by once, forward and back and round, in folded texts, too."""
    with opened(browser, varied) as (page, *_):
        page.locator("#search").fill("Shop 12")  # at once: half of it matches elsewhere, too
        page.locator("#matches", has_text="in 1 step").wait_for()
        total = int(page.locator("#matches").inner_text().split()[0])
        page.keyboard.press("Enter")
        assert page.locator("#matches").inner_text() == f"1 of {total}"
        page.keyboard.press("Shift+Enter")
        assert page.locator("#matches").inner_text() == f"{total} of {total}"
        assert page.locator("mark.here").is_visible()
        page.keyboard.press("Enter")
        assert page.locator("#matches").inner_text() == f"1 of {total}"
        page.locator("#search").fill("no such account")
        page.locator("#matches", has_text=re.compile("in [0-9]+ step")).wait_for()
        total = int(page.locator("#matches").inner_text().split()[0])
        told = []
        for _ in range(total + 1):
            page.keyboard.press("Enter")
            told.append(page.locator("#matches").inner_text())
        assert told == [f"{n} of {total}" for n in [*range(1, total + 1), 1]]


@pytest.mark.full
def test_a_key_behind_the_words_searches_all_of_them(browser: "Browser", varied: Path) -> None:
    """Enter goes to the matches of what stands in the box, however quickly it was pressed."""
    with opened(browser, varied) as (page, *_):
        page.locator("#search").fill("no such account")
        page.locator("#matches", has_text=re.compile("in [0-9]+ step")).wait_for()
        typed_and_sent = """(box) => {
            box.value = "Shop 12";
            box.dispatchEvent(new Event("input"));
            box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
        }"""
        page.locator("#search").evaluate(typed_and_sent)
        assert page.locator("#matches").inner_text() == "1 of 111"


@pytest.mark.full
def test_a_long_run_opens_and_is_searched(browser: "Browser", long: Path) -> None:
    """1,000 steps of some megabytes open at any of them, and all is found."""
    with opened(browser, long, "#step-777") as (page, *_):
        assert page.locator("article.open").get_attribute("id") == "step-777"
        assert count_of(page, ".list li[data-step]") == LONG
        page.keyboard.press("/")
        page.keyboard.insert_text("part 778 of")
        page.locator("#matches", has_text="60 in 1 step").wait_for()
        page.keyboard.press("Enter")
        assert page.locator("mark.here").is_visible()
        assert fitting(page) == [778]


@pytest.mark.full
@pytest.mark.parametrize("width", [380, 1000, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_is_readable(browser: "Browser", varied: Path, width: int, scheme: str) -> None:
    """At each width nothing sticks out, and all words have a contrast of 4.5 or more (WCAG AA)."""
    size = {"width": width, "height": 800}
    with opened(browser, varied, viewport=size, color_scheme=scheme) as (page, *_):
        for step in varied_run():
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), step.index
            assert page.evaluate(FAINT) == [], step.index
            page.keyboard.press("j")


@pytest.mark.full
def test_without_scripts_all_steps_are_there(browser: "Browser", varied: Path) -> None:
    """A reader whose browser runs no scripts sees all steps with their texts, no dead control."""
    with opened(browser, varied, java_script_enabled=False) as (page, *_):
        for step in varied_run():
            assert page.locator(f"#step-{step.index}").is_visible()
        assert "Tidy the books" in page.locator("#step-1 pre").inner_text()
        assert not page.locator("#search").is_visible()
        assert page.locator("#plan li").count() == 3


@pytest.mark.full
def test_what_fits_is_printed(browser: "Browser", varied: Path) -> None:
    """On paper all steps follow each other, or those that fit; controls are left out."""
    with opened(browser, varied) as (page, *_):
        page.emulate_media(media="print")
        assert page.locator("article:visible").count() == len(varied_run())
        assert not page.locator(".tools").is_visible()
        page.emulate_media(media="screen")
        page.keyboard.press("f")
        page.emulate_media(media="print")
        assert page.locator("article:visible").count() == 3


@pytest.mark.full
def test_the_timeline_leads_to_steps(browser: "Browser", varied: Path) -> None:
    """A bar tells what it is, a click opens its step, arrows go along and across."""
    with opened(browser, varied) as (page, *_):
        bar = page.locator("#graph a[data-step='18']").last
        bar.hover()
        assert "Step 18" in page.locator("#readout").inner_text()
        bar.click()
        # A click changes the address; the browser tells the page of that a moment later.
        page.locator("article.open#step-18").wait_for()
        page.locator("#graph a[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith("Step 11: item 1")
        page.keyboard.press("Enter")
        page.locator("article.open#step-11").wait_for()


FAINT = """(() => {
  const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("svg, :disabled, label:has(:disabled)")) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(`${walk.currentNode.data.slice(0, 30)} ${contrast.toFixed(2)}`);
  }
  return faint;
})()"""
"""Words whose contrast is too low (WCAG 2.2, 1.4.3), by the computed colours."""
