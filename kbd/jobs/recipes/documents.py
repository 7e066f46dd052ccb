"""Recipes as documents: TOML for people to read, change and compare, JSON on the wire; their hash.

What people look at first stands first: name, request, assumptions, constants; then the jobs, each
as its own document has it, below `[[jobs]]`.
"""

import hashlib
import re
from typing import Any

import msgspec

from kbd.arguments import record_of
from kbd.errors import ValidationFailed
from kbd.jobs.documents import encode_job_toml, parse_document
from kbd.jobs.recipes.records import RECIPE_VERSION, Recipe
from kbd.jobs.records import VERSION
from kbd.jobs.toml_text import dump_toml

__all__ = ["decode_recipe", "encode_recipe_toml", "recipe_hash", "recipe_of_plain"]

_MAX_CHARACTERS = 4_000_000
"""Of a recipe's document; a job of a hundred steps has some twenty thousand."""


def decode_recipe(text: str) -> Recipe:
    """Return the recipe that a document holds, in TOML or JSON.

    Raises:
        ValidationFailed: It is neither, or no recipe; the message has the path of each fault.
    """
    return recipe_of_plain(parse_document(text, "recipe", _MAX_CHARACTERS))


def recipe_of_plain(value: Any) -> Recipe:
    """Return the recipe that plain values hold, as JSON has them.

    Raises:
        ValidationFailed: They are none; the message has the path of each fault.
    """
    if isinstance(value, dict):
        jobs = value.get("jobs")
        versions = [job.get("version") for job in jobs if isinstance(job, dict)] if (
            isinstance(jobs, list)) else []  # fmt: skip
        _check_version("recipe", value.get("recipe"), RECIPE_VERSION)
        for number, version in enumerate(versions):
            _check_version(f"jobs[{number}].version", version, VERSION)
    recipe: Recipe = record_of(value, Recipe)
    return recipe


def _check_version(path: str, version: Any, known: int) -> None:
    if isinstance(version, int) and version > known:
        raise ValidationFailed(
            f"{path}: it is of version {version}, and this kbd knows {known}; a newer kbd runs it"
        )


def encode_recipe_toml(recipe: Recipe) -> str:
    """Return a recipe as TOML for people."""
    plain = msgspec.json.decode(msgspec.json.encode(recipe))
    del plain["jobs"]
    lists = {name: plain.pop(name, []) for name in ("constants", "learned_from")}
    parts = [dump_toml({"recipe": recipe.recipe, **plain})]
    for name, entries in lists.items():
        parts += [f"[[{name}]]\n{dump_toml(entry)}" for entry in entries]
    # At the beginning of a line stands no other bracket: values of several lines are indented.
    parts += [
        "[[jobs]]\n" + re.sub(r"(?m)^(\[+)", r"\1jobs.", encode_job_toml(job))
        for job in recipe.jobs
    ]
    return "\n".join(parts)


def recipe_hash(recipe: Recipe) -> str:
    """Return the SHA-256 of a recipe's canonical form, JSON, as 64 lower-case hex digits."""
    return hashlib.sha256(msgspec.json.encode(recipe)).hexdigest()
