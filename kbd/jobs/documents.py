"""Jobs as documents: TOML for people, JSON on the wire, and the hash that says which job it is.

The canonical form is JSON with the fields in the order of the records, without those that have
their defaults; what people wrote in an order (columns that are derived one after the other) keeps
it. Of that form the SHA-256 is a job's hash.
"""

import hashlib
import re
from typing import Any

import msgspec

from kbd.arguments import record_of
from kbd.errors import ValidationFailed
from kbd.jobs.records import VERSION, Job
from kbd.jobs.toml_text import dump_toml, parse_toml

__all__ = [
    "canonical_json",
    "decode_job",
    "encode_job_toml",
    "job_hash",
    "job_of",
    "parse_document",
]

_MAX_CHARACTERS = 1_000_000
"""Of a job's document; a hundred steps have some twenty thousand."""


def parse_document(text: str, kind: str, max_characters: int) -> Any:
    """Return the plain values of a document, in TOML or JSON.

    Args:
        text: The document.
        kind: What it is, for messages, as `job`.
        max_characters: As many it may have.

    Raises:
        ValidationFailed: It is neither, or too long; the message has the place.
    """
    if len(text) > max_characters:
        raise ValidationFailed(f"the {kind} has more than {max_characters} characters")
    is_json = text.lstrip().startswith("{")
    try:
        return msgspec.json.decode(text) if is_json else parse_toml(text)
    except (ValueError, RecursionError) as error:
        # Of TOML its message has the line and the column, of JSON the byte.
        form = "JSON" if is_json else "TOML"
        said = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ValidationFailed(f"the {kind} is no {form}: {said[:1].lower()}{said[1:]}") from None


def decode_job(text: str) -> Job:
    """Return the job that a document holds, in TOML or JSON.

    Raises:
        ValidationFailed: It is neither, or no job; the message has the path of each fault.
    """
    return job_of(parse_document(text, "job", _MAX_CHARACTERS))


def job_of(value: Any) -> Job:
    """Return the job that plain values hold, as JSON has them.

    Raises:
        ValidationFailed: They are none; the message has the path of each fault.
    """
    version = value.get("version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ValidationFailed(
            f"version: the job is of version {version} of the language, and this kbd knows"
            f" {VERSION}; a newer kbd runs it"
        )
    job: Job = record_of(value, Job)
    return job


def encode_job_toml(job: Job) -> str:
    """Return a job as TOML for people; what has its default is left out."""
    # Through JSON, which makes lists of tuples.
    plain = {"version": job.version, **msgspec.json.decode(canonical_json(job))}
    lists = {name: plain.pop(name, []) for name in ("inputs", "steps", "checks")}
    constants = plain.pop("constants", {})
    parts = [dump_toml(plain)]
    parts += [_entry(name, item) for name, items in lists.items() for item in items]
    if constants:
        parts.append(dump_toml({"constants": constants}))
    return "\n".join(parts)


def _entry(name: str, item: dict[str, Any]) -> str:
    """Return an entry of a list under a heading of its own, where it is short, too."""
    lines = [f"[[{name}]]"]
    for line in dump_toml(item).removesuffix("\n").split("\n"):
        # At the beginning of a line stands no other bracket: values of several lines are indented.
        heading = re.match(r"\[+", line)
        lines.append(line if heading is None else f"{heading[0]}{name}.{line[heading.end() :]}")
    return "\n".join(lines) + "\n"


def canonical_json(job: Job) -> bytes:
    """Return a job in the form that it is hashed in."""
    return msgspec.json.encode(job)


def job_hash(job: Job) -> str:
    """Return the SHA-256 of a job's canonical form, 64 lower-case hex digits."""
    return hashlib.sha256(canonical_json(job)).hexdigest()
