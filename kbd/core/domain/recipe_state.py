"""Recipes that are saved: their state by the daemon's log, and the decisions about them. Pure."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.core.domain.decision import Decision
from kbd.errors import NotFound, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.recipes import RecipeRemoved, RecipeSaved
from kbd.types import RunId

__all__ = [
    "RECIPE_FOLDS",
    "RecipeCommand",
    "RemoveRecipe",
    "SaveRecipe",
    "SavedRecipe",
    "SavedRecipes",
    "decide_recipe",
    "saved_recipe",
]


class SavedRecipe(msgspec.Struct, frozen=True):
    """A recipe as it was saved.

    Args:
        name: Its name.
        sha256: The hash of its canonical form.
        document: All of it, as TOML.
        run_id: The run that it was learned from; "" for none.
        saved_at_us: When.
    """

    name: str
    sha256: str
    document: str
    run_id: RunId
    saved_at_us: int


SavedRecipes = dict[str, SavedRecipe]
"""Recipes by their names."""


class SaveRecipe(msgspec.Struct, frozen=True):
    """Save a recipe.

    Args:
        saved: What is recorded.
        replace: Whether another one of the name is replaced.
    """

    saved: RecipeSaved
    replace: bool = False


class RemoveRecipe(msgspec.Struct, frozen=True):
    """Remove a recipe.

    Args:
        name: Its name.
        users: The watches that work by it.
    """

    name: str
    users: tuple[str, ...] = ()


RecipeCommand = SaveRecipe | RemoveRecipe
"""Everything that `decide_recipe` answers."""


def saved_recipe(recipes: SavedRecipes, name: str) -> SavedRecipe:
    """Return a recipe; raises NotFound if there is none of the name."""
    found = recipes.get(name)
    if found is None:
        there = f"; there are: {', '.join(sorted(recipes)[:20])}" if recipes else ""
        raise NotFound(f"there is no recipe {name}{there}")
    return found


def decide_recipe(recipes: SavedRecipes, command: RecipeCommand) -> Decision:
    """Decide a command about recipes. The same recipe saved again leads to no event.

    Raises:
        ValidationFailed: Another recipe has the name, or watches work by the one to be removed.
        NotFound: There is no such recipe.
    """
    match command:
        case SaveRecipe(saved=saved, replace=replace):
            known = recipes.get(saved.name)
            if known is not None and known.sha256 == saved.sha256:
                return Decision()
            if known is not None and not replace:
                raise ValidationFailed(
                    f"there is a recipe {saved.name} already; replace it (--replace), or name this"
                    " one otherwise"
                )
            return Decision((saved,))
        case RemoveRecipe(name=name, users=users):
            saved_recipe(recipes, name)
            if users:
                raise ValidationFailed(
                    f"{', '.join(users)} works by the recipe {name}: remove the watch first"
                )
            return Decision((RecipeRemoved(name),))


def _saved(recipes: SavedRecipes, record: Recorded) -> None:
    data: RecipeSaved = record.data
    recipes[data.name] = SavedRecipe(
        data.name, data.sha256, data.document, data.run_id, record.ts_us
    )


def _removed(recipes: SavedRecipes, record: Recorded) -> None:
    data: RecipeRemoved = record.data
    recipes.pop(data.name, None)


RECIPE_FOLDS: Mapping[type, Callable[[SavedRecipes, Any], None]] = MappingProxyType(
    {RecipeSaved: _saved, RecipeRemoved: _removed}
)
"""What each event changes."""
