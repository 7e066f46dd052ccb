"""Requests about recipes: jobs that were done once, to be done again with other files."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import UNSET, Answer, Request, RunParam, Unset, WorkbenchParam
from kbd.types import RunId

__all__ = [
    "JobTried",
    "RecipeChange",
    "RecipeConstantRow",
    "RecipeFound",
    "RecipeGet",
    "RecipeKept",
    "RecipeList",
    "RecipeNameParam",
    "RecipeRemove",
    "RecipeRequest",
    "RecipeRow",
    "RecipeSave",
    "RecipeStatement",
    "RecipeTest",
    "RecipeTested",
    "RecipeTrial",
    "RecipeUnlisted",
    "RecipesFound",
]

RecipeNameParam = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\Z")]
"""A recipe's name: small letters, digits, `.`, `_` and `-`."""

_AgreedParam = Annotated[
    tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)], ...],
    msgspec.Meta(max_length=200),
]


class _RecipeRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "recipe"


class RecipeRow(msgspec.Struct, frozen=True):
    """A recipe in a list.

    Args:
        name: Its name.
        sha256: The hash of its canonical form.
        words: What it does, in a sentence for each job.
        saved_at: When it was saved.
        run_id: The run that it was learned from; absent for one that came as a document.
    """

    name: str
    sha256: str
    words: str
    saved_at: str
    run_id: RunId | Unset = UNSET


class RecipesFound(Answer):
    """All recipes, by name."""

    recipes: tuple[RecipeRow, ...]


class RecipeList(_RecipeRequest):
    """List the recipes."""

    answer: ClassVar[type[Any]] = RecipesFound


class RecipeConstantRow(msgspec.Struct, frozen=True):
    """A text, number or date that stays the same whatever the files are.

    Args:
        place: Where it stands in the recipe.
        value: Itself.
        why: Why it is there.
        origin: "request" if the words of the request say it, "agreed" if a person agreed to it.
    """

    place: str
    value: str
    why: str
    origin: str


class RecipeStatement(msgspec.Struct, frozen=True):
    """The statement of a step of a recipe that writes or answers, by the columns that it names.

    Args:
        job: The job, from 1.
        step: The step, from 1.
        sql: The statement.
    """

    job: int
    step: int
    sql: str


class RecipeFound(Answer):
    """A recipe in full.

    Args:
        recipe: As in a list.
        request: The words that it came from.
        steps: What it does, a line for each input and step.
        checks: What must hold, or it stops.
        assumptions: What is taken for granted.
        constants: What stays the same, each with its reason.
        sql: Its statements, but for those that hang on values of the data, as a pivot's do.
        document: All of it, as TOML.
        model_id: The model of its runs.
    """

    recipe: RecipeRow
    request: str
    steps: tuple[str, ...]
    checks: tuple[str, ...]
    assumptions: tuple[str, ...]
    constants: tuple[RecipeConstantRow, ...]
    sql: tuple[RecipeStatement, ...]
    document: str
    model_id: str


class RecipeGet(_RecipeRequest):
    """Show a recipe."""

    answer: ClassVar[type[Any]] = RecipeFound

    name: RecipeNameParam


class RecipeChange(msgspec.Struct, frozen=True):
    """A changed input that a recipe was tried with.

    Args:
        input: The input.
        text: What was changed.
        held: How many results were compared.
    """

    input: str
    text: str
    held: int


class RecipeTrial(msgspec.Struct, frozen=True):
    """The result of one trial, for a person to look at.

    Args:
        text: What was changed in the input.
        columns: Names of the result's columns.
        rows: Its first rows.
        row_count: How many there are.
    """

    text: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    row_count: int = 0


class RecipeKept(Answer):
    """A recipe was saved.

    Args:
        recipe: As in a list.
        constants: What stays the same, each with its reason.
        assumptions: What is taken for granted.
        notes: What was left out of the jobs, or could not be tried.
        changes: The changed inputs that it was tried with, all of which held; none where it came as
            a document.
        trial: The result of one of them.
    """

    recipe: RecipeRow
    constants: tuple[RecipeConstantRow, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[RecipeChange, ...] = ()
    trial: RecipeTrial | Unset = UNSET


class RecipeSave(_RecipeRequest):
    """Save a recipe: learned from a run, and tried with changed inputs first; or as a document.

    Just one of `run_id` and `document` is given.

    Args:
        run_id: A run that carried out jobs.
        document: A recipe, in TOML or JSON.
        name: What it is called; a document has a name of its own.
        agree: Values of the jobs that a person agrees to, as the refusal writes them.
        assumptions: What a person takes for granted, in words.
        replace: Whether another recipe of the name is replaced.
        dry_run: Whether it is only tried: all is answered as if it was saved, and nothing is.
    """

    answer: ClassVar[type[Any]] = RecipeKept

    run_id: RunParam | Unset = UNSET
    document: Annotated[str, msgspec.Meta(min_length=1)] | Unset = UNSET
    name: RecipeNameParam | Unset = UNSET
    agree: _AgreedParam = ()
    assumptions: _AgreedParam = ()
    replace: bool = False
    dry_run: bool = False


class JobTried(msgspec.Struct, frozen=True):
    """What a job of a recipe would do with the files of a workbench.

    Args:
        words: What it does, with the names of the files.
        steps: The same, a line for each input and step.
        checks: The guards that hold.
        failed: Those that fail, or why it cannot be carried out.
        notes: What a person should know.
        sql: The statement of each step that writes or answers, with the step's number.
    """

    words: str
    steps: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sql: tuple[dict[str, Any], ...] = ()


class RecipeTested(Answer):
    """What a recipe would do; nothing was written.

    Args:
        holds: Whether all guards of all jobs hold.
        jobs: Its jobs.
    """

    holds: bool
    jobs: tuple[JobTried, ...]


class RecipeTest(_RecipeRequest):
    """Tell what a recipe would do with the files of a workbench, without writing."""

    answer: ClassVar[type[Any]] = RecipeTested

    name: RecipeNameParam
    workbench_id: WorkbenchParam


class RecipeUnlisted(Answer):
    """The recipe is removed."""

    removed: bool = True


class RecipeRemove(_RecipeRequest):
    """Remove a recipe; its runs stay, and can be verified."""

    answer: ClassVar[type[Any]] = RecipeUnlisted

    name: RecipeNameParam


RecipeRequest = RecipeSave | RecipeList | RecipeGet | RecipeTest | RecipeRemove
"""The requests of this file."""
