"""Records of a recipe: jobs that run on other files of the same shape, and where they came from."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kbd.jobs.records import Job

__all__ = ["RECIPE_VERSION", "LearnedFile", "Recipe", "RecipeConstant", "RecipeName"]

RECIPE_VERSION = 1
"""Of the document. A recipe of a later version is refused."""

RecipeName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\Z")]
"""A name of a recipe, and of its file: small letters, digits, `.`, `_` and `-`."""


class RecipeConstant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text, number or date that stays the same whatever the files are.

    Args:
        place: Where it stands, as `jobs[0].steps[1].where`.
        value: Itself, as expressions write it: `'cancelled'`, `1.19`, `date '2024-01-01'`.
        why: Why it is there, for people.
        origin: Whether the words of the request say it, or a person agreed to it.
    """

    place: str
    value: str
    why: str
    origin: Literal["request", "agreed"] = "request"


class LearnedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that a recipe was learned from, and the SHA-256 of its bytes."""

    file: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A recipe: what a person once asked for and agreed to, to be done again with other files.

    Args:
        name: What it is called.
        request: The words that it came from.
        jobs: What it does, one after the other.
        recipe: The version of the document.
        assumptions: What a person agreed to take for granted.
        constants: The literals of the jobs that do not belong to the language itself.
        learned_from: The files that it was learned from.
    """

    name: RecipeName
    request: Annotated[str, Meta(max_length=100_000)]
    jobs: Annotated[tuple[Job, ...], Meta(min_length=1, max_length=16)]
    recipe: Annotated[int, Meta(ge=1)] = RECIPE_VERSION
    assumptions: tuple[str, ...] = ()
    constants: tuple[RecipeConstant, ...] = ()
    learned_from: tuple[LearnedFile, ...] = ()
