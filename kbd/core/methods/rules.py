"""What a client asks of a watch, checked, so that a rule that is taken can be carried out.

What looks at the disk blocks: call it in a thread.
"""

import os
import shutil
from typing import TypeVar

import msgspec

from kbd.core.gateway.gateway import Egress
from kbd.core.runtime.paths import Home
from kbd.core.watch.name_patterns import Patterns
from kbd.core.watch.tree import Tree
from kbd.errors import NotFound, ValidationFailed
from kbd.events.watches import (
    FailurePolicy,
    PassedFile,
    RuleLimits,
    WatchConsent,
    WatchRule,
)
from kbd.requests.base import Unset
from kbd.requests.watched import WatchConsentParam
from kbd.requests.watches import WatchAdd

__all__ = [
    "asked_rule",
    "checked_consent",
    "checked_patterns",
    "files_there",
    "placed_rule",
    "watched_folder",
]

_T = TypeVar("_T")


def asked_rule(request: WatchAdd, egress: Egress) -> WatchRule:
    """Return the rule that a client asks for; nothing on disk was looked at yet.

    Raises:
        ValidationFailed: Something in it makes no sense.
        NotFound: There is no such provider or model.
    """
    model_id = _given(request.model_id)
    if model_id is not None:
        egress.models.provider(model_id)
    if not request.prompt.strip():
        msg = "the prompt is empty: say what is to be done with what lands"
        raise ValidationFailed(msg)
    deliver_to = _given(request.deliver_to)
    if deliver_to is not None and request.publish != "auto":
        msg = (
            "results go to deliver_to when they are published, and this rule leaves that to a "
            'person: set publish to "auto", or leave deliver_to out'
        )
        raise ValidationFailed(msg)
    if any(map(egress.holds_key, request.on_outcome)):
        msg = "on_outcome holds an API key, which the log may not: have the program get it itself"
        raise ValidationFailed(msg)
    return WatchRule(
        name=_given(request.name) or os.path.basename(os.path.normpath(request.folder)),
        folder=request.folder,
        prompt=request.prompt,
        patterns=checked_patterns(request.patterns),
        model_id=model_id,
        mode=request.mode,
        quiet_s=request.quiet_s,
        deliver_to=deliver_to,
        publish=request.publish,
        limits=RuleLimits(**msgspec.structs.asdict(request.limits)),
        on_failure=FailurePolicy(**msgspec.structs.asdict(request.on_failure)),
        on_outcome=request.on_outcome,
        consent=checked_consent(egress, request.consent, model_id),
    )


def placed_rule(rule: WatchRule, home: Home) -> WatchRule:
    """Return a rule whose folders are there, without links; that for results is made. Blocks.

    Raises:
        ValidationFailed: A folder is not one that the rule can be for, or its program is not there.
        NotFound: The folder to be watched is not there.
    """
    _check_program(rule.on_outcome)
    folder = watched_folder(rule.folder, home)
    deliver_to = rule.deliver_to and _folder_for_results(rule.deliver_to, home)
    return msgspec.structs.replace(rule, folder=folder, deliver_to=deliver_to)


def watched_folder(folder: str, home: Home) -> str:
    """Return a folder that may be watched, without links in its path. Blocks.

    Raises:
        ValidationFailed: It is no folder, or kbd's home is in it, or it in the home: kbd would
            watch itself work.
        NotFound: It is not there.
    """
    real = _real(folder, "folder")
    if not os.path.exists(real):
        msg = "the folder to be watched is not there, or cannot be reached: make it first"
        raise NotFound(msg)
    if not os.path.isdir(real):
        msg = "what is to be watched is not a folder"
        raise ValidationFailed(msg)
    own = os.path.realpath(home.folder)
    if _is_within(real, own) or _is_within(own, real):
        msg = "the home of kbd and a watched folder must lie beside each other: name another folder"
        raise ValidationFailed(msg)
    return real


def files_there(folder: str, patterns: tuple[str, ...]) -> tuple[PassedFile, ...]:
    """Return the files of a folder that a rule would take. Blocks.

    Raises:
        NotFound: The folder is not there.
        FileReadFailed: It cannot be read.
    """
    taken = Patterns(patterns)
    with Tree(folder) as tree:
        return tuple(
            PassedFile(found.path, found.signature)
            for found in tree.walk()
            if found.kind == "file" and taken.takes(found.path)
        )


def checked_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return patterns that could be for files below a folder.

    Raises:
        ValidationFailed: One of them could not.
    """
    for pattern in patterns:
        path = pattern.removeprefix("!")
        if not path or path.startswith("/") or ".." in path.split("/") or "\0" in path:
            msg = (
                f"the pattern {pattern!r} is for no file below the folder: a pattern is for names "
                "(`*.txt`) or for paths below the folder (`letters/*.txt`), without `..`"
            )
            raise ValidationFailed(msg)
    return patterns


def checked_consent(
    egress: Egress, asked: WatchConsentParam | Unset, model_id: str | None
) -> WatchConsent | None:
    """Return what a person agreed to.

    Args:
        egress: Knows the providers.
        asked: The consent as it was sent.
        model_id: The rule's model, if it names one.

    Raises:
        ValidationFailed: It is for another model than the rule's, or its parts do not fit.
        NotFound: There is no such provider or model.
    """
    if isinstance(asked, msgspec.UnsetType):
        return None
    if asked.provider_id != asked.model_id.partition(":")[0]:
        msg = f"{asked.model_id} is not a model of the provider {asked.provider_id}"
        raise ValidationFailed(msg)
    endpoint = egress.endpoint(asked.model_id)
    if model_id not in (None, asked.model_id):
        msg = f"the rule's model is {model_id}, and the consent is for {asked.model_id}"
        raise ValidationFailed(msg)
    return WatchConsent(asked.provider_id, asked.model_id, endpoint)


def _folder_for_results(asked: str, home: Home) -> str:
    real = _real(asked, "deliver_to")
    if _is_within(real, os.path.realpath(home.folder)):
        msg = "results cannot go into the home of kbd: name another folder"
        raise ValidationFailed(msg)
    try:
        os.makedirs(real, exist_ok=True)
    except OSError as error:
        msg = f"deliver_to is not a folder and cannot be made one: {error.strerror}"
        raise ValidationFailed(msg) from None
    if not os.access(real, os.W_OK | os.X_OK):
        msg = "deliver_to cannot be written to: name another folder, or change its permissions"
        raise ValidationFailed(msg)
    return real


def _check_program(command: tuple[str, ...]) -> None:
    if not command:
        return
    program = command[0]
    # Relative paths are refused: the daemon's current folder is nobody's.
    is_path = "/" in program
    if any("\0" in part for part in command) or (is_path and not program.startswith("/")):
        msg = "on_outcome begins with the name of a program, or its absolute path"
        raise ValidationFailed(msg)
    if shutil.which(program) is None:
        msg = (
            f"the program {program!r} of on_outcome is not found, or may not be run: the daemon "
            "looks for names in its own PATH"
        )
        raise ValidationFailed(msg)


def _real(folder: str, parameter: str) -> str:
    """Return an absolute path without links in it."""
    if not os.path.isabs(folder) or "\0" in folder:
        msg = f"{parameter} must be an absolute path"
        raise ValidationFailed(msg)
    real = os.path.realpath(folder)
    try:
        real.encode()
    except UnicodeEncodeError:
        msg = f"{parameter} leads to a folder whose name is no Unicode text: rename it"
        raise ValidationFailed(msg) from None
    return real


def _is_within(folder: str, other: str) -> bool:
    """Tell whether a folder is another one, or below it."""
    return os.path.commonpath((folder, other)) == other


def _given(value: _T | Unset) -> _T | None:
    return None if isinstance(value, msgspec.UnsetType) else value
