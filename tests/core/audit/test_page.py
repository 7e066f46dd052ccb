"""The page of a run as text: what is in it, what is left out, and that nothing breaks out of it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import get_args

import pytest

from kbd.core.audit.page.document import page_of
from kbd.core.audit.page.run_index import CONTENTS_LIMIT_CHARACTERS, blobs_of
from kbd.core.audit.page.step_view import KINDS
from kbd.requests.replays import Step, StepKind
from kbd.requests.workshop import RunStatus
from kbd.types import BlobHash
from paged_runs import BIG, CONTENTS, HOSTILE, MISSING, OPENING, long_run, run_info, varied_run

OURS = {
    "a", "article", "aside", "b", "body", "button", "caption", "circle", "code", "dd", "details",
    "dialog", "div", "dl", "dt", "footer", "form", "g", "h1", "h2", "h3", "h4", "head", "header",
    "html", "i", "input", "kbd", "label", "li", "line", "main", "meta", "nav", "ol", "option", "p",
    "path", "pre", "rect", "script", "section", "select", "small", "span", "strong", "style",
    "summary", "svg", "symbol", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
    "use",
}  # fmt: skip


class Reader(HTMLParser):
    """What a browser would make of a page: elements, their attributes, and what they say."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "line", "rect", "circle", "path", "use"}:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave it; what is not open cannot end."""
        if tag in self.inside:
            assert self.inside.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note what the innermost element says."""
        if self.inside:
            self.texts.setdefault(self.inside[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    """The varied run's page."""
    return page_of(run_info("failed"), HOSTILE, varied_run(), CONTENTS)


@pytest.fixture(scope="module")
def read(page: str) -> Reader:
    """The same, parsed."""
    return Reader(page)


def test_the_same_run_gives_the_same_page(page: str) -> None:
    """Nothing but the arguments counts: no clock, no chance, no order of a set."""
    assert page_of(run_info("failed"), HOSTILE, varied_run(), dict(CONTENTS)) == page


def test_no_text_becomes_markup(read: Reader) -> None:
    """All elements and attributes are kbd's own, however hostile the texts are."""
    names = {name for name, _ in read.elements}
    attributes = {key for _, found in read.elements for key in found}

    assert names <= OURS
    assert not {key for key in attributes if key.startswith("on") or key in {"src", "style"}}
    assert [found.get("type") for found in read.all("script")] == [None, "application/json", None]
    assert len(read.all("style")) == 1
    assert len(read.all("article")) == len(varied_run())
    assert read.inside == []
    assert "</script><img src=x onerror=alert(1)>" in "".join(read.texts["pre"])
    assert "⟨ESC⟩[2Jgone" in "".join(read.texts["title"])


def test_why_a_run_declined_is_told() -> None:
    """The head says that nothing was done and why, as a text."""
    read = Reader(page_of(run_info("declined"), "Tidy", varied_run(), dict(CONTENTS)))

    (told,) = [text for text in read.texts["p"] if text.startswith("Nothing was done: ")]
    assert told.startswith("Nothing was done: There is no such column. ")
    assert {name for name, _ in read.elements} <= OURS


def test_hidden_characters_have_names(page: str, read: Reader) -> None:
    """No control character, direction mark or character without width is in the page itself."""
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e]", page)
    assert not re.search("[\u00ad\u2060-\u206f\ufeff\U000e0000-\U000e007f]", page)
    assert {"ESC", "NUL", "U+202E", "U+2028", "U+200B", "U+00AD", "U+E0041"} <= set(read.texts["i"])


def test_nothing_is_linked_to_but_the_page(read: Reader) -> None:
    """Every address is a place in the page, and each of them exists."""
    places = {found["id"] for _, found in read.elements if "id" in found}
    linked = [str(found["href"]) for _, found in read.elements if "href" in found]

    assert linked
    assert {address[:1] for address in linked} == {"#"}
    assert {address[1:] for address in linked} <= places


def test_the_policy_allows_only_what_is_there(page: str) -> None:
    """Nothing may be fetched; the scripts and the style are known by their hashes."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    def hashes(parts: list[str]) -> str:
        digests = (hashlib.sha256(part.encode()).digest() for part in parts)
        return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

    assert rules.pop("script-src") == hashes(scripts)
    assert rules.pop("style-src") == hashes(styles)
    assert rules == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert len(scripts) == 2


def test_the_blobs_worth_reading_are_named_once() -> None:
    """Openings, arguments and results in the order of the steps; never a file's version."""
    found = blobs_of(varied_run())

    assert found == (OPENING, BlobHash("a2" * 32), BIG, MISSING)


def test_texts_stand_as_they_were(read: Reader) -> None:
    """Numbers of arguments and results keep their digits; only white space is added."""
    shown = "".join(read.texts["pre"])

    assert '{"path": "a.txt", "n": 1.10}' in shown
    assert "12345678901234567" in shown
    assert "{broken" in shown


def test_a_message_is_shown_once(read: Reader) -> None:
    """What two chains begin with stands in the first; the second refers to it."""
    assert "".join(read.texts["pre"]).count("You work on files.") == 1
    assert "A message as in " in "".join(read.texts["p"])


def test_long_texts_are_begun_and_cut(read: Reader) -> None:
    """Of a million characters in a line 64 Ki are in the page, behind a click; the cut is told."""
    assert sum(text.count("x") for text in read.texts["pre"]) < 70_000
    assert "Cut here; the log has all of it." in read.texts["p"]
    assert any("more characters" in text for text in read.texts["summary"])


def test_what_is_left_out_is_told(read: Reader) -> None:
    """A blob that nobody gave is named with where it is kept."""
    told = " ".join(read.texts["p"])

    assert f"Not in this page: the log keeps it in blob {MISSING}." in told
    assert "1 text is not in this page" in told


def test_the_page_keeps_within_its_limit() -> None:
    """Blobs beyond the limit are left out, the later ones first, and each is told."""
    steps = [step for step in varied_run() if step.call and step.call.blob]
    half = '"' + "y" * (CONTENTS_LIMIT_CHARACTERS * 3 // 4) + '"'
    page = page_of(run_info(), "x", steps, {BIG: half, MISSING: half})

    assert len(page) < 300_000
    assert f"blob {MISSING}" in page
    assert f"blob {BIG}" not in page
    assert "1 text is not in this page" in page


def test_a_long_run_has_a_page_of_sensible_size() -> None:
    """200 steps of 2 KiB each make a page of some hundred kilobytes."""
    page = page_of(run_info(), "x", long_run(200), CONTENTS)

    assert page.count("<article ") == 200
    assert len(page) < 800_000


def test_the_plan_can_be_told_at_each_step(read: Reader) -> None:
    """The changes that the page carries, folded up to a step, are the plan after that step."""
    changes = json.loads(read.texts["script"][1])
    for step in varied_run():
        if step.items:
            items: dict[int, str] = {}
            for at, _, changed in changes:
                if at <= step.index:
                    items |= {index: state for index, _, state, _ in changed}
            assert items == {item.index: item.state for item in step.items}
    assert len(changes) == 5


def test_every_kind_of_step_has_a_name_and_a_sign(read: Reader) -> None:
    """A kind that is new would else have no place in the list; each is in the varied run."""
    kinds = set(get_args(StepKind))

    assert set(KINDS) == kinds
    assert {str(found["id"]) for found in read.all("symbol")} == {f"i-{kind}" for kind in kinds}
    assert {step.kind for step in varied_run()} == kinds


def test_failures_and_changes_are_marked(read: Reader) -> None:
    """A refused call, a turn after a failure and a failed item; a change of a file, likewise."""
    rows = [found for found in read.all("li") if "data-step" in found]

    assert [row["data-step"] for row in rows if "data-failed" in row] == ["6", "8", "21"]
    assert [row["data-step"] for row in rows if "data-changed" in row] == ["13", "20", "21"]


@pytest.mark.parametrize("status", ["running", "finished", "failed", "cancelled", "interrupted"])
@pytest.mark.parametrize("steps", [[], varied_run()[:1], varied_run()[:4]])
def test_any_run_has_a_page(status: RunStatus, steps: list[Step]) -> None:
    """A run without steps, one under way, one that failed: the page says how it stands."""
    read = Reader(page_of(run_info(status), "", steps, {}))

    assert len(read.all("article")) == len(steps)
    assert status in read.texts["span"]
    assert "(no request)" in read.texts["h1"]
    assert ("DISK_FULL" in read.texts["span"]) == (status == "failed")
    assert any("so far" in text for text in read.texts["dd"]) == (status == "running")
