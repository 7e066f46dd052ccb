"""Exit codes that scripts can rely on, and the error that carries one."""

__all__ = [
    "ANOTHER_DAEMON",
    "BROKEN_PIPE",
    "CANCELLED",
    "CONFIRMATION_NEEDED",
    "DECLINED",
    "FAILED",
    "OK",
    "UNPROVEN",
    "UNREACHABLE",
    "USAGE",
    "RequestRefused",
    "Stop",
]

OK = 0
"""Done. A run that answered and changed nothing is done, too."""

FAILED = 1
"""The run or an item of it failed, the daemon answered with an error, or a check found a fault."""

USAGE = 2
"""The command line makes no sense."""

CONFIRMATION_NEEDED = 3
"""Consent or confirmation is needed, and nobody gave it."""

DECLINED = 4
"""The run declined what was asked: nothing was done."""

UNPROVEN = 5
"""Of `kbd receipt verify`: nothing is false, but something could not be checked."""

UNREACHABLE = 69
"""No daemon answers (EX_UNAVAILABLE of sysexits.h)."""

ANOTHER_DAEMON = 75
"""Another daemon has the home (EX_TEMPFAIL of sysexits.h)."""

CANCELLED = 130
"""Interrupted by Ctrl-C (128 + SIGINT)."""

BROKEN_PIPE = 141
"""Whoever read the output has gone (128 + SIGPIPE)."""


class Stop(Exception):
    """Ends the command with an exit code and a message for people.

    Args:
        message: What to print on stderr; empty for nothing.
        code: The exit code.
    """

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class RequestRefused(Stop):
    """The daemon answered with an error.

    Args:
        error_code: The application's code ("NOT_FOUND"), or the protocol's number as text.
        reason: The error's message.
        actions: What the daemon says can be done.
        detail: Facts beside it.
    """

    def __init__(
        self,
        error_code: str,
        reason: str,
        actions: tuple[str, ...] = (),
        detail: dict[str, object] | None = None,
    ) -> None:
        advice = "".join(f"\n  - {action}" for action in actions)
        consent = error_code == "EGRESS_CONSENT_REQUIRED"
        super().__init__(
            f"{error_code}: {reason}{advice}", CONFIRMATION_NEEDED if consent else FAILED
        )
        self.error_code = error_code
        self.reason = reason
        self.actions = actions
        self.detail = detail or {}
