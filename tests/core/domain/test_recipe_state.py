"""Saved recipes: what may be saved and removed, and what the daemon's log makes of it."""

import pytest

from kbd.core.domain.daemon_decisions import decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.recipe_state import RemoveRecipe, SaveRecipe, saved_recipe
from kbd.errors import NotFound, ValidationFailed
from kbd.events import Event, codec
from kbd.events.recipes import RecipeRemoved, RecipeSaved
from kbd.types import RunId, Seq

FIRST = RecipeSaved("split", "a" * 64, "recipe = 1", RunId("00112233445566ff-1"))
OTHER = RecipeSaved("split", "b" * 64, "recipe = 1 # other")


def folded(*events: Event) -> DaemonState:
    """The daemon's state after events."""
    state = DaemonState()
    for number, event in enumerate(events, 1):
        fold_daemon(state, Seq(number), codec.wrap_event(event, number))
    return state


def test_a_recipe_is_kept_until_it_is_removed() -> None:
    """The newest of a name counts; a removed one is not there, and others stay."""
    kept = folded(FIRST, OTHER, RecipeSaved("sums", "c" * 64, "x"), RecipeRemoved("sums"))

    assert list(kept.recipes) == ["split"]
    found = saved_recipe(kept.recipes, "split")
    assert (found.sha256, found.saved_at_us) == ("b" * 64, 2)
    with pytest.raises(NotFound, match="there are: split"):
        saved_recipe(kept.recipes, "sums")


def test_another_one_of_the_name_is_replaced_only_on_purpose() -> None:
    """The same is saved once; another is refused, or replaces it where that is said."""
    state = folded(FIRST)

    assert decide_daemon(state, SaveRecipe(FIRST)).events == ()
    with pytest.raises(ValidationFailed, match="already"):
        decide_daemon(state, SaveRecipe(OTHER))
    assert decide_daemon(state, SaveRecipe(OTHER, replace=True)).events == (OTHER,)


def test_one_that_a_watch_works_by_is_not_removed() -> None:
    """The watch is named; without it the recipe goes, and one that is not there is told."""
    state = folded(FIRST)

    with pytest.raises(ValidationFailed, match="inbox works by the recipe split"):
        decide_daemon(state, RemoveRecipe("split", ("inbox",)))
    assert decide_daemon(state, RemoveRecipe("split")).events == (RecipeRemoved("split"),)
    with pytest.raises(NotFound):
        decide_daemon(state, RemoveRecipe("sums"))
