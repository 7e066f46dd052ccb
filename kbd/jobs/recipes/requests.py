"""Requests that are documents: a job or a recipe as the message of a run, and the model for it.

    Recipe monthly-split: Of *.csv, total Amount by Region, and write {sales}-by-region.xlsx.

    ```toml
    recipe = 1
    …
    ```

The message is all that a run needs: it is done again when the recipe has been changed or removed.
The model's id has the beginning of the document's hash, so that no other document is carried out
under its name: `job:3f2a…`, `recipe:monthly-split@3f2a…`.
"""

import re

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.documents import decode_job, encode_job_toml, job_hash
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml, recipe_hash
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.records import Job
from kbd.jobs.words import job_sentence

__all__ = [
    "JOB_PROVIDER",
    "MAX_REQUEST_CHARACTERS",
    "RECIPE_PROVIDER",
    "DocumentRequest",
    "document_of",
    "job_in",
    "job_request",
    "recipe_in",
    "recipe_request",
    "recipe_words",
]

JOB_PROVIDER = "job"
"""The provider whose models read a job."""

RECIPE_PROVIDER = "recipe"
"""The provider whose models read a recipe."""

MAX_REQUEST_CHARACTERS = 200_000
"""Of a document that is a request; a job of a hundred steps has some twenty thousand."""

_HASH_DIGITS = 12
_DOCUMENT = re.compile(r"```toml\n(.*)\n```\s*\Z", re.DOTALL)
_ESCAPED = re.compile(r"<\\")


class DocumentRequest(msgspec.Struct, frozen=True):
    """A document as a request.

    Args:
        text: The message.
        model_id: The model that reads it.
        sha256: The document's hash.
        words: What it does, in a sentence for each job.
    """

    text: str
    model_id: str
    sha256: str
    words: str


def job_request(job: Job) -> DocumentRequest:
    """Return a job as a request.

    Raises:
        ValidationFailed: A condition of it is no expression, or it is too long.
    """
    words, sha256 = job_sentence(job), job_hash(job)
    model_id = f"{JOB_PROVIDER}:{sha256[:_HASH_DIGITS]}"
    return _request(f"Job: {words}", encode_job_toml(job), model_id, sha256, words)


def recipe_request(recipe: Recipe) -> DocumentRequest:
    """Return a recipe as a request.

    Raises:
        ValidationFailed: A condition of it is no expression, or it is too long.
    """
    words, sha256 = recipe_words(recipe), recipe_hash(recipe)
    model_id = f"{RECIPE_PROVIDER}:{recipe.name}@{sha256[:_HASH_DIGITS]}"
    head = f"Recipe {recipe.name}: {words}"
    return _request(head, encode_recipe_toml(recipe), model_id, sha256, words)


def recipe_words(recipe: Recipe) -> str:
    """Return what a recipe does, in a sentence for each of its jobs.

    Raises:
        ValidationFailed: A condition is no expression.
    """
    return " Then: ".join(map(job_sentence, recipe.jobs))


def _request(head: str, document: str, model_id: str, sha256: str, words: str) -> DocumentRequest:
    if len(document) > MAX_REQUEST_CHARACTERS:
        raise ValidationFailed(
            f"the document has more than {MAX_REQUEST_CHARACTERS:,} characters, and is no request"
        )
    text = f"{head}\n\n```toml\n{document.rstrip()}\n```"
    return DocumentRequest(text, model_id, sha256, words)


def job_in(text: str, model: str) -> Job:
    r"""Return the job that a request is.

    Args:
        text: The request as a prompt has it, where a `<` may stand as `<\`.
        model: The model's name: the beginning of the job's hash.

    Raises:
        ValidationFailed: It is none, or another one.
    """
    for document in _documents(text, f"kbd run --job FILE begins a run of {JOB_PROVIDER}"):
        job = decode_job(document)
        if job_hash(job).startswith(model):
            return job
    raise ValidationFailed(f"the request holds another job than {model}")


def recipe_in(text: str, model: str) -> Recipe:
    """Return the recipe that a request is.

    Args:
        text: As for `job_in`.
        model: The model's name: that of the recipe, and the beginning of its hash.

    Raises:
        ValidationFailed: It is none, or another one.
    """
    for document in _documents(text, f"kbd run --recipe NAME begins a run of {RECIPE_PROVIDER}"):
        recipe = decode_recipe(document)
        if f"{recipe.name}@{recipe_hash(recipe)[:_HASH_DIGITS]}" == model:
            return recipe
    raise ValidationFailed(f"the request holds another recipe than {model}")


def document_of(text: str) -> str:
    """Return the document that a request holds, as the log has it; "" if it holds none."""
    found = _DOCUMENT.search(text)
    return found[1] if found is not None else ""


def _documents(text: str, hint: str) -> tuple[str, ...]:
    """Return what the document of a request may be: as it stands, and without what a prompt adds.

    Raises:
        ValidationFailed: There is none.
    """
    found = document_of(text)
    if not found:
        raise ValidationFailed(f"the request is no document; {hint}")
    return tuple(dict.fromkeys((_ESCAPED.sub("<", found), found)))
