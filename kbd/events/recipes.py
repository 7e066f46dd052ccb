"""Events of recipes, in the daemon's log: what was saved under which name, and what was removed."""

from kbd.events.base import Fact
from kbd.types import RunId

__all__ = ["RecipeEvent", "RecipeRemoved", "RecipeSaved"]


class RecipeSaved(Fact):
    """A recipe was saved; one of the name that was there before is replaced.

    Args:
        name: Its name.
        sha256: The hash of its canonical form, 64 lower-case hex digits.
        document: All of it, as TOML.
        run_id: The run that it was learned from; "" where it came as a document.
    """

    name: str
    sha256: str
    document: str
    run_id: RunId = RunId("")


class RecipeRemoved(Fact):
    """A recipe was removed; runs of it stay as they are."""

    name: str


RecipeEvent = RecipeSaved | RecipeRemoved
"""Everything that happens to recipes."""
