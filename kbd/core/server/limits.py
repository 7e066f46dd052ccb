"""Limits on what one client, and all together, may ask of the daemon."""

import msgspec

from kbd.rpc import MESSAGE_BYTES
from kbd.rpc.parsing import BATCH_MESSAGES, MAX_NESTING, MAX_PARTS

__all__ = ["ServerLimits"]


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of the socket (contract 1, reliability.md 4); each can be set.

    Args:
        message_bytes: The longest message of a client.
        nesting: The deepest nesting in it.
        parts: The most arrays and objects in it.
        batch: The most messages in a batch.
        connections: How many clients at a time.
        in_flight: How many unanswered requests one client may have; past it, it is not read.
        names: How many workbenches one client is told of.
        outbound_bytes: How much may wait for a client to read it.
        outbound_messages: The same in messages. Deltas are small, so this is the one that a client
            meets first; one batch of commits may announce hundreds at once.
        send_bytes: How much is handed to the socket at once.
        stall_s: Seconds without any progress after which a subscriber is too slow, and for which a
            dropped client may still take its last message.
        partial_s: Seconds in which a message that has begun must be complete.
        grace_s: Seconds that requests in flight get to end when the client has said its last word
            or the daemon stops.
    """

    message_bytes: int = MESSAGE_BYTES
    nesting: int = MAX_NESTING
    parts: int = MAX_PARTS
    batch: int = BATCH_MESSAGES
    connections: int = 1000
    in_flight: int = 32
    names: int = 10_000
    outbound_bytes: int = 1024 * 1024
    outbound_messages: int = 4096
    send_bytes: int = 256 * 1024
    stall_s: float = 5.0
    partial_s: float = 10.0
    grace_s: float = 5.0
