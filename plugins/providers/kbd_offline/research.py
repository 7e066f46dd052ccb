"""The research phase: look at the files, read the request, write down the intent."""

from collections.abc import Callable
from typing import assert_never

from kbd_offline import deduping, merging, profiling, replacing, tabling
from kbd_offline.conversation import CallFailedError, Conversation
from kbd_offline.files import MAX_REQUEST_CHARACTERS, without_names
from kbd_offline.findings import Findings, report
from kbd_offline.intents import Declined
from kbd_offline.jobs import Job, job_of
from kbd_offline.understanding import shortened
from kbd_offline.wording import UnclearError

__all__ = ["research"]


def research(conversation: Conversation) -> str:
    """Return research.md; see `Conversation.call` for what it raises."""
    request = conversation.request
    try:
        job = job_of(without_names(request[:MAX_REQUEST_CHARACTERS], conversation.paths))
        return report(_looking(job)(conversation, request))
    except (CallFailedError, UnclearError) as failed:
        return report(Findings(Declined(shortened(request), str(failed))))


def _looking(job: Job) -> Callable[[Conversation, str], Findings]:
    match job:
        case Job.TABLE:
            return tabling.look
        case Job.DEDUPE:
            return deduping.look
        case Job.MERGE:
            return merging.look
        case Job.PROFILE:
            return profiling.look
        case Job.REPLACE:
            return replacing.look
        case _:
            assert_never(job)
