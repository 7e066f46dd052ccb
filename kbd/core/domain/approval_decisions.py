"""Decisions about approvals: what waits for a person, and what a person's answer leads to.

An approval is about something exact: these bytes of these files, this scope of a consent. When
that has changed it waits no more, and nobody can accept what is not there any longer. What a
person does directly (publish, confirm a deletion, agree to a model) decides what waited for it.
"""

from collections.abc import Iterable, Iterator

import msgspec

from kbd.core.domain.commands import DecideApproval, RequestApprovals
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.decision import Decision
from kbd.core.domain.workbench_state import Approval, DecidedApproval, Draft, WorkbenchState
from kbd.errors import NotFound, ValidationFailed
from kbd.events.approvals import ApprovalDecided, ApprovalRequested, AskedFile
from kbd.events.approvals import Decision as Answer
from kbd.events.codec import format_time
from kbd.events.drafts import DeletionConfirmed
from kbd.events.vocabulary import Event
from kbd.events.workbenches import ConsentGranted
from kbd.types import FileName

__all__ = [
    "accept_deletions",
    "accept_published",
    "decide_approval",
    "decline_draft",
    "is_waiting",
    "pending_approvals",
    "publish_requests",
    "request_approvals",
    "settle_consent",
    "waiting_approval",
]


def pending_approvals(state: WorkbenchState) -> Iterator[Approval]:
    """Yield what waits for a person, oldest first."""
    return (each for each in state.approvals.values() if is_waiting(state, each.request))


def is_waiting(state: WorkbenchState, request: ApprovalRequested) -> bool:
    """Return whether what is asked is still there to be decided."""
    match request.kind:
        case "publish" | "deletion" | "external":
            if state.draft is None or state.publish is not None:
                return False
            draft = state.draft
            return bool(request.files) and all(_is_drafted(draft, file) for file in request.files)
        case "consent" | "call":
            return scope_hash(state, request.model_id) == request.scope_hash


def _is_drafted(draft: Draft, file: AskedFile) -> bool:
    """Return whether a file of the draft is what somebody was asked about."""
    drafted = draft.files.get(file.name)
    return drafted is not None and (drafted.base, drafted.blob, tuple(drafted.warnings)) == (
        file.base,
        file.blob,
        file.references,
    )


def request_approvals(state: WorkbenchState, command: RequestApprovals) -> Decision:
    """Ask what nobody asks yet, and what is still there to be asked about.

    Of a consent that is about other files by now nothing is recorded: the caller asks anew.

    Raises:
        ValidationFailed: The draft changed since it was asked.
    """
    gone = [each for each in command.wanted if not is_waiting(state, each)]
    if any(each.kind in ("publish", "deletion", "external") for each in gone):
        msg = "the draft changed meanwhile; nothing was asked, try again"
        raise ValidationFailed(msg, retryable=True)
    asked = {_subject(each.request) for each in pending_approvals(state)}
    fresh = tuple(
        each for each in command.wanted if each not in gone and _subject(each) not in asked
    )
    return Decision(fresh, run=command.run)


def _subject(request: ApprovalRequested) -> ApprovalRequested:
    """Return what is asked, whoever asks it: without the names of asking."""
    return msgspec.structs.replace(request, approval_id="", call_id="")


def publish_requests(
    draft: Draft, names: Iterable[FileName], publish_id: str
) -> tuple[ApprovalRequested, ...]:
    """Return what a person is asked before files of a draft are published.

    Each deletion and each file with new active content is asked about by itself, before the
    publish.

    Args:
        draft: The draft.
        names: Which of its files.
        publish_id: Begins the ids of what is asked.

    Raises:
        NotFound: The draft does not change one of them.
    """
    files = [_asked(draft, name) for name in sorted(names)]
    asked: list[ApprovalRequested] = []
    for file in files:
        if file.blob is None and file.name not in draft.confirmed:
            asked.append(ApprovalRequested(f"{publish_id}-{len(asked)}", "deletion", (file,)))
        elif file.references and not draft.files[file.name].is_accepted:
            asked.append(ApprovalRequested(f"{publish_id}-{len(asked)}", "external", (file,)))
    return (*asked, ApprovalRequested(f"{publish_id}-{len(asked)}", "publish", tuple(files)))


def _asked(draft: Draft, name: FileName) -> AskedFile:
    drafted = draft.files.get(name)
    if drafted is None:
        msg = f"{name!r} is not changed in the draft"
        raise NotFound(msg)
    return AskedFile(name, drafted.base, drafted.blob, tuple(drafted.warnings))


def waiting_approval(state: WorkbenchState, approval_id: str) -> ApprovalRequested:
    """Return what an approval asks.

    Raises:
        NotFound: There is no such approval.
        ValidationFailed: It is decided already, or waits no more.
    """
    decided = state.decided.get(approval_id)
    if decided is not None:
        raise _decided_error(approval_id, decided)
    asked = state.approvals.get(approval_id)
    if asked is None:
        msg = f"there is no approval {approval_id!r}"
        raise NotFound(msg)
    if not is_waiting(state, asked.request):
        msg = f"approval {approval_id} waits no more: what it was about has changed since"
        raise ValidationFailed(msg, actions=("list what waits now with ApprovalList",))
    return asked.request


def _decided_error(approval_id: str, decided: DecidedApproval) -> ValidationFailed:
    """Return what a second one is told, who decides what somebody has decided."""
    word = "accepted" if decided.decision == "accept" else "declined"
    when = format_time(decided.decided_at_us)
    who = f" by {decided.actor.client}" if decided.actor is not None else ""
    detail = {"decision": decided.decision, "decided_at": when}
    if decided.actor is not None:
        detail["client"] = decided.actor.client
    msg = f"approval {approval_id} was {word} already{who}, at {when}"
    return ValidationFailed(msg, detail=detail)


def decide_approval(state: WorkbenchState, command: DecideApproval) -> Decision:
    """Record a person's decision, with what follows from it.

    Raises:
        NotFound: There is no such approval.
        ValidationFailed: It is decided already, waits no more, or is a publish, which is accepted
            by publishing.
    """
    request = waiting_approval(state, command.approval_id)
    decided = ApprovalDecided(command.approval_id, command.decision)
    if command.decision == "decline":
        return Decision((decided,))
    match request.kind:
        case "publish":
            msg = f"approval {command.approval_id} is accepted by publishing"
            raise ValidationFailed(msg)
        case "external":
            return Decision((decided,))
        case "deletion":
            confirmed = state.draft.confirmed if state.draft is not None else []
            names = (*confirmed, *(file.name for file in request.files))
            return Decision((decided, DeletionConfirmed(names)))
        case "consent" | "call":
            consent = ConsentGranted(
                request.provider_id,
                request.model_id,
                request.scope_hash,
                # What one call needs is not agreed to for good.
                persist=request.kind == "consent",
                endpoint=request.endpoint,
            )
            return Decision((decided, *_others(state, consent, but=command.approval_id), consent))


def settle_consent(state: WorkbenchState, consent: ConsentGranted) -> tuple[Event, ...]:
    """Return the approvals that a consent decides, accepted."""
    return _others(state, consent, but="")


def _others(
    state: WorkbenchState, consent: ConsentGranted, but: str
) -> tuple[ApprovalDecided, ...]:
    wanted = (consent.model_id, consent.scope_hash, consent.endpoint)
    return tuple(
        ApprovalDecided(each.request.approval_id, "accept")
        for each in pending_approvals(state)
        if each.request.kind in ("consent", "call")
        and (each.request.model_id, each.request.scope_hash, each.request.endpoint) == wanted
        and each.request.approval_id != but
    )


def accept_deletions(
    state: WorkbenchState, names: Iterable[FileName]
) -> tuple[ApprovalDecided, ...]:
    """Return the deletions that waited for a person, accepted by confirming them."""
    return _decide_all(state, ("deletion",), set(names), "accept")


def accept_published(
    state: WorkbenchState, names: Iterable[FileName]
) -> tuple[ApprovalDecided, ...]:
    """Return what waited for a person about these files, accepted by publishing them."""
    return _decide_all(state, ("publish", "deletion", "external"), set(names), "accept")


def decline_draft(state: WorkbenchState) -> tuple[ApprovalDecided, ...]:
    """Return what waited for a person about the draft, declined by discarding it."""
    names = set(state.draft.files) if state.draft is not None else set()
    return _decide_all(state, ("publish", "deletion", "external"), names, "decline")


def _decide_all(
    state: WorkbenchState, kinds: tuple[str, ...], names: set[FileName], answer: Answer
) -> tuple[ApprovalDecided, ...]:
    return tuple(
        ApprovalDecided(each.request.approval_id, answer)
        for each in pending_approvals(state)
        if each.request.kind in kinds and {file.name for file in each.request.files} <= names
    )
