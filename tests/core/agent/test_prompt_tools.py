"""A prompt names no tool that its phase refuses: a model would call it, and lose a turn."""

import re

import pytest

from kbd.core.agent.prompts import load
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from kbd.types import Phase

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """All formats and tools that come with kbd."""
    return Catalog(Plugins.discover(Settings()))


def _refused(catalog: Catalog, phase: Phase, text: str) -> set[str]:
    """Return the tools that a text names and the phase refuses."""
    offered = {entry.tool.name for entry in catalog.tools_for(phase)}
    every = {entry.tool.name for entry in catalog.tools()}
    return {name for name in every - offered if re.search(rf"\b{name}\b", text)}


@pytest.mark.parametrize("phase", list(Phase))
def test_a_phases_prompt_names_its_own_tools(catalog: Catalog, phase: Phase) -> None:
    """The text itself, with the shared rules in it."""
    assert _refused(catalog, phase, load(phase, 77)) == set()


@pytest.mark.parametrize("phase", list(Phase))
def test_a_tools_description_names_its_phases_tools(catalog: Catalog, phase: Phase) -> None:
    """In every phase that offers the tool, with what formats add to it."""
    told = {entry.tool.name: entry.tool.description for entry in catalog.tools_for(phase)}

    found = {name: _refused(catalog, phase, text) for name, text in told.items()}
    assert {name: refused for name, refused in found.items() if refused} == {}


async def test_style_guidance_names_no_tools_that_the_plan_refuses(catalog: Catalog) -> None:
    """It is the same in research, plan and implement."""
    for handler in catalog.handlers():
        if handler.style_file:
            text = await catalog.style_guidance(handler)
            for phase in (Phase.RESEARCH, Phase.PLAN, Phase.IMPLEMENT):
                assert _refused(catalog, phase, text) == set(), handler.name


def test_the_summary_leaves_to_others_what_becomes_of_changes() -> None:
    """Whether they wait or are published at once is known to who asked for the run."""
    text = load(Phase.SUMMARY)

    assert "wait in a draft" not in text
    assert "What becomes of the changes is not yours to say" in text
