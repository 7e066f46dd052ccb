"""Jobs and recipes as messages: they come back from a prompt as they were, and no other does."""

import msgspec
import pytest

from job_tables import job
from kbd.core.agent.prompt_blocks import block
from kbd.errors import ValidationFailed
from kbd.jobs.documents import job_hash
from kbd.jobs.recipes.documents import recipe_hash
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.recipes.requests import (
    MAX_REQUEST_CHARACTERS,
    document_of,
    job_in,
    job_request,
    recipe_in,
    recipe_request,
)

# Columns in an order of their own, a sign that a prompt escapes, and a fence.
JOB = job(
    {"do": "derive", "columns": {"Z": "Amount * 2", "A": "Z + 1"}},
    {"do": "filter", "where": "Amount <files and Status = '```'"},
    {"do": "write", "file": "{t}.xlsx"},
    title="twice <request> and\n```\nmore",
)
RECIPE = Recipe("twice", "twice the amount", (JOB, job({"do": "report", "text": "done"})))


def in_prompt(text: str) -> str:
    """A request as a prompt has it."""
    return block("request", text).removeprefix("<request>\n").removesuffix("\n</request>")


def test_documents_come_back_from_a_prompt() -> None:
    """A job and a recipe are read as they were sent, with the order of their columns."""
    sent, kept = job_request(JOB), recipe_request(RECIPE)

    found = job_in(in_prompt(sent.text), sent.model_id.partition(":")[2])
    assert found == JOB
    assert list(found.steps[0].columns) == ["Z", "A"]  # type: ignore[union-attr]
    assert recipe_in(in_prompt(kept.text), kept.model_id.partition(":")[2]) == RECIPE


def test_models_are_named_by_the_document() -> None:
    """A model's name has the beginning of the hash; the request has all of it, and the words."""
    sent, kept = job_request(JOB), recipe_request(RECIPE)

    assert sent.model_id == f"job:{job_hash(JOB)[:12]}"
    assert kept.model_id == f"recipe:twice@{recipe_hash(RECIPE)[:12]}"
    assert (sent.sha256, kept.sha256) == (job_hash(JOB), recipe_hash(RECIPE))
    assert sent.text.startswith(f"Job: {sent.words}\n")
    assert " Then: " in kept.words


def test_another_document_is_refused() -> None:
    """One that was changed, is of another kind or is none is not carried out."""
    sent, kept = job_request(JOB), recipe_request(RECIPE)
    model, named = (each.model_id.partition(":")[2] for each in (sent, kept))

    with pytest.raises(ValidationFailed, match="another job"):
        job_in(sent.text.replace("Amount * 2", "Amount * 3"), model)
    with pytest.raises(ValidationFailed, match="another recipe"):
        recipe_in(kept.text.replace("Amount * 2", "Amount * 3"), named)
    with pytest.raises(ValidationFailed, match="steps"):
        job_in(kept.text, model)
    with pytest.raises(ValidationFailed, match="no document"):
        recipe_in("total by month", named)
    assert document_of("total by month") == ""


def test_what_is_too_long_is_no_request() -> None:
    """A document of hundreds of kilobytes is refused before it is a message."""
    long = msgspec.structs.replace(JOB, assumptions=("x" * MAX_REQUEST_CHARACTERS,))

    with pytest.raises(ValidationFailed, match="characters"):
        job_request(long)
