"""The providers `job` and `recipe`: their models are documents, named by their hashes."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, assert_never

from kbd.errors import ValidationFailed
from kbd.jobs.recipes.generalization import recipe_faults
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.recipes.requests import (
    JOB_PROVIDER,
    RECIPE_PROVIDER,
    job_in,
    recipe_in,
    recipe_words,
)
from kbd.jobs.words import job_sentence
from kbd.messages import Decline
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)
from kbd.types import Phase
from kbd_recipe.conversation import PendingCallError, PhaseConversation
from kbd_recipe.phases import AskedDocument, implement, plan, refusal_in, research, summary

__all__ = ["JobProvider", "RecipeProvider"]


class _DocumentProvider(Provider):
    """A document carried out in the place of a model: no network, no key, the same every time."""

    takes_any_model: ClassVar[bool] = True
    writes_prose: ClassVar[bool] = False
    looks_into_files: ClassVar[bool] = False

    def models(self) -> Sequence[ModelInfo]:
        """Return none: a model is a document, and the request brings it."""
        return ()

    def status(self) -> ProviderStatus:
        """Return that it is always ready and that nothing leaves the machine."""
        return ProviderStatus(configured=True, leaves_machine=False)

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int:
        """Return how many bytes are read of tools: their names."""
        return sum(len(tool.name) for tool in tools)

    @abstractmethod
    def document(self, text: str, model: str) -> AskedDocument:
        """Return the document that a request is.

        Args:
            text: The request.
            model: The model's name.

        Raises:
            ValidationFailed: It is none, or another one than the model's.
        """

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn from the messages alone; `access` is not used.

        Raises:
            ValidationFailed: The turn cannot be made; the text says why.
        """
        del access
        conversation = PhaseConversation(request)
        try:
            document = self.document(conversation.block("request"), request.model)
        except ValidationFailed as fault:
            # Without a document there is nothing to do in any phase, and the run says so.
            document = AskedDocument("the request", "nothing", (), (fault.message,))
        try:
            text = _phase_text(request.phase, conversation, document)
        except PendingCallError as pending:
            return ModelReply(tool_calls=(pending.call,), finish_reason="tool_calls")
        emit(text)
        reason = refusal_in(conversation) if request.phase is Phase.IMPLEMENT else ""
        if not reason:
            return ModelReply(text=text)
        refusal = Decline(reason, f"{document.label}: {document.words}")
        return ModelReply(text=text, finish_reason="declined", refusal=refusal)


def _phase_text(phase: Phase, conversation: PhaseConversation, document: AskedDocument) -> str:
    match phase:
        case Phase.RESEARCH:
            return research(conversation, document)
        case Phase.PLAN:
            return plan(conversation, document)
        case Phase.IMPLEMENT:
            return implement(conversation, document)
        case Phase.SUMMARY:
            return summary(conversation, document)
        case _:
            assert_never(phase)


class JobProvider(_DocumentProvider):
    """Provider of jobs: a model is a job, named by the beginning of its hash."""

    name: ClassVar[str] = JOB_PROVIDER

    def document(self, text: str, model: str) -> AskedDocument:
        """Return the job that a request is; raises ValidationFailed."""
        job = job_in(text, model)
        return AskedDocument("the job", job_sentence(job), (job,))


class RecipeProvider(_DocumentProvider):
    """Provider of recipes: a model is a recipe, named by its name and the beginning of its hash."""

    name: ClassVar[str] = RECIPE_PROVIDER

    def document(self, text: str, model: str) -> AskedDocument:
        """Return the recipe that a request is; raises ValidationFailed."""
        recipe = recipe_in(text, model)
        return AskedDocument(
            f"the recipe {recipe.name}", recipe_words(recipe), recipe.jobs, _unexplained(recipe)
        )


def _unexplained(recipe: Recipe) -> tuple[str, ...]:
    return tuple(f"{each.place}: {each.reason}" for each in recipe_faults(recipe))
