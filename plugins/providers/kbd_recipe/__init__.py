"""Providers of jobs and recipes: a document carried out by the tools, without a model.

    provider        the two providers, and a turn of them
    phases          research, plan, implement and summary of a document
    conversation    what a phase is given, and the results of its calls

A run of a document goes through the phases of any run: all jobs are bound and checked by
`check_job`, then carried out by `run_job` as one item, and one that cannot be is declined.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.providers import Provider
from kbd_recipe.provider import JobProvider, RecipeProvider

__all__ = ["kbd_register_providers"]


@hookimpl
def kbd_register_providers() -> Sequence[Provider]:
    """Return the two providers."""
    return [JobProvider(), RecipeProvider()]
