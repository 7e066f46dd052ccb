"""Scrubber: verifies a share of the home each day while the daemon is idle, and tells of damage.

    messages   what the daemon and the process that verifies say to each other
    process    that process, seen from the daemon; it is `kbd.core.audit.scrub_main`
    scrubber   the task: when is what verified

When each log was verified, and what is recorded of what was found, is `verifications` beside it.

What was found stands in the daemon's log (`DamageFound`, `DamageMended`), so it is in its state and
in every list. When each log was verified is a projection beside the index, and may be lost.

Another kind of thing to verify is another request in `messages`, an entry of
`verifications.subjects`, and what answers it in `kbd.core.audit.scrub_main`.
"""
