"""Recipes and jobs as the messages of runs, and the recipes that are saved."""

import msgspec

from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.recipe_state import saved_recipe
from kbd.errors import ValidationFailed
from kbd.jobs.documents import decode_job
from kbd.jobs.recipes.documents import decode_recipe
from kbd.jobs.recipes.generalization import recipe_faults
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.recipes.requests import DocumentRequest, job_request, recipe_request
from kbd.requests.workshop import WorkshopSendUserMessage

__all__ = ["checked_recipe", "request_of_recipe", "requested_document"]

_ONE_OF = "a message is just one of text, job and recipe"


def requested_document(
    state: DaemonState, request: WorkshopSendUserMessage
) -> str | DocumentRequest:
    """Return what a message asks for: its text, or a job or a recipe as a document.

    Raises:
        ValidationFailed: It is not just one of these; or the document is no job.
        NotFound: There is no such recipe.
    """
    text, job, recipe = request.text, request.job, request.recipe
    given = [each for each in (text, job, recipe) if not isinstance(each, msgspec.UnsetType)]
    if len(given) != 1:
        raise ValidationFailed(_ONE_OF)
    if not isinstance(text, msgspec.UnsetType):
        return text
    if not isinstance(job, msgspec.UnsetType):
        return job_request(decode_job(job))
    return request_of_recipe(state, given[0])


def request_of_recipe(state: DaemonState, name: str) -> DocumentRequest:
    """Return a recipe that is saved as the message of a run.

    Raises:
        NotFound: There is no such recipe.
        ValidationFailed: It is of a newer kbd.
    """
    return recipe_request(decode_recipe(saved_recipe(state.recipes, name).document))


def checked_recipe(document: str) -> Recipe:
    """Return the recipe that a document holds, ready to be saved.

    Raises:
        ValidationFailed: It is none, it does not say why a literal is there, or it is too long to
            be a request; the message has each fault.
    """
    recipe = decode_recipe(document)
    if faults := recipe_faults(recipe):
        told = "; ".join(f"{each.place}: {each.reason}" for each in faults)
        raise ValidationFailed(f"{told}: add a constant with the value and why it is there")
    recipe_request(recipe)
    return recipe
