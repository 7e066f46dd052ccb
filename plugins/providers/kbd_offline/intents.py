"""Intents of requests, as records; they travel as JSON in research and plan.

JobIntent        a job that is run as it is
ProfileIntent    a report of what files hold, or the answer to that question
DeclinedIntent   why nothing is done, with what can be asked instead
"""

import re

import msgspec

from kbd.jobs.records import Job

__all__ = [
    "DeclinedIntent", "Intent", "JobIntent", "ProfileIntent", "TableIntent", "decode_intent",
    "encode_intent",
]  # fmt: skip


class TableIntent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table: its file, and its sheet where it is one of a workbook."""

    path: str
    sheet: str = ""

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments that name it to a tool."""
        return {"path": self.path, **({"source_sheet": self.sheet} if self.sheet else {})}

    @property
    def label(self) -> str:
        """Its file, with the sheet."""
        return f"{self.path}: {self.sheet}" if self.sheet else self.path


class JobIntent(msgspec.Struct, frozen=True, tag="job", tag_field="offline"):
    """A job, in words, with what the reader of the answer must know beside it."""

    job: Job
    words: str
    notes: tuple[str, ...] = ()


class ProfileIntent(msgspec.Struct, frozen=True, tag="profile", tag_field="offline"):
    """A report of what files hold; without a target it is the answer to a question."""

    paths: tuple[str, ...]
    target: str


class DeclinedIntent(msgspec.Struct, frozen=True, tag="declined", tag_field="offline"):
    """Declined request: it on one line, the reason, and commands near it.

    Args:
        understood: The request.
        reason: Why nothing is done; of a question the question.
        options: Requests that answer a question, or come near.
        is_question: Whether they are the answers to a question.
    """

    understood: str
    reason: str
    options: tuple[str, ...] = ()
    is_question: bool = False


Intent = JobIntent | ProfileIntent | DeclinedIntent

_DECODER: msgspec.json.Decoder[Intent] = msgspec.json.Decoder(Intent)
# msgspec writes the tag of a record first, so the line of an intent begins like this.
_LINE = re.compile(r'^\{"offline":.*\}$', re.MULTILINE)


def encode_intent(intent: Intent) -> str:
    """Return an intent as a fenced line of JSON that `decode_intent` finds again."""
    # Nothing in it may look like the delimiter of a block or a fence.
    text = msgspec.json.encode(intent).decode().replace("<", "\\u003c").replace("`", "\\u0060")
    return f"```json\n{text}\n```"


def decode_intent(text: str) -> Intent | None:
    """Return the intent that a text holds, fenced or not, or None."""
    for line in _LINE.findall(text):
        try:
            return _DECODER.decode(line)
        # A line of the user's own may begin so; the intent may be the next one.
        except msgspec.DecodeError:
            continue
    return None
