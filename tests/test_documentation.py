"""The documentation hangs together: its links lead somewhere, and every page is found."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from documentation import DOCS, ROOT

INDEX = DOCS / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]
KINDS = {"tutorial", "how-to", "reference", "explanation"}
LONGEST_README = 300
"""Lines: what a newcomer reads in five minutes."""

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return FENCED.sub("", page.read_text("utf-8"))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The file and the anchor of each relative link of a page."""
    for target in LINK.findall(INLINE.sub("", prose(page))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def relative(page: Path) -> str:
    """A page's path from the root."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Each relative link of a page names a file that exists and an anchor that it has."""
    for path, anchor in links(page):
        assert path.is_relative_to(ROOT), f"{path} is outside of the repository"
        assert path.exists(), f"{path} does not exist"
        assert not anchor or anchor in anchors(path), f"{path} has no heading {anchor}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_a_page_says_first_what_it_is_for(page: Path) -> None:
    """It has one title, which is its first line; a sentence follows, no heading and no table."""
    first, blank, second, *_ = page.read_text("utf-8").splitlines()

    assert re.findall(r"^# .*$", prose(page), re.MULTILINE) == [first]
    assert blank == ""
    assert page.name == "README.md" or re.match(r"[A-Z][a-z]", second)


def test_every_page_is_reached_from_the_index() -> None:
    """Following links from docs/README.md one comes to each page of docs/."""
    reached, waiting = {INDEX}, [INDEX]
    while waiting:
        for path, _ in links(waiting.pop()):
            if path.suffix == ".md" and path.is_relative_to(DOCS) and path not in reached:
                reached.add(path)
                waiting.append(path)

    assert set(DOCS.rglob("*.md")) == reached


def test_the_index_lists_every_page_under_its_kind() -> None:
    """Each folder of docs/ is a kind, and the index has a link to each page in it."""
    pages = set(DOCS.rglob("*.md")) - {INDEX}

    assert {page.parent.name for page in pages} == KINDS
    assert pages <= {path for path, _ in links(INDEX)}


def test_the_readme_leads_to_the_documentation() -> None:
    """From the README one comes to the index and to the pages beside it."""
    beside = {ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", INDEX}

    assert beside <= {path for path, _ in links(ROOT / "README.md")}


def test_the_readme_is_short() -> None:
    """A newcomer reads it in five minutes."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= LONGEST_README
