"""The socket: clients' requests in; answers, notifications and streams of events out.

    listener       Server: accepts, refuses, stops; the Unix socket itself
    poller         Poller: all clients' sockets behind one wait
    intake         Intake: what arrives from one client
    connection     Connection: one client, the session of its requests, and refusals as lines
    in_flight      the requests of one client that are not answered yet, and who answers them
    outbox         Outbox, Post: what waits for one client to read it
    discovery      what rpc.discover answers
    dispatch       Handler, Session, Follow: what the core gives, and is given
    hub            Hub: who is told of which workbench
    subscriptions  EventsSubscribe and EventsUnsubscribe
    limits         how much a client may ask

A client that does not read is dropped with its cursor; nobody else notices. What is bounded: the
bytes of a message, requests in flight (past that a client is not read), what waits for a client.
"""

from kbd.core.server.dispatch import (
    Batch,
    Follow,
    Handler,
    Handlers,
    Session,
    Stream,
    Synced,
)
from kbd.core.server.hub import Hub
from kbd.core.server.limits import ServerLimits
from kbd.core.server.listener import Server
from kbd.core.server.subscriptions import subscription_handlers

__all__ = [
    "Batch",
    "Follow",
    "Handler",
    "Handlers",
    "Hub",
    "Server",
    "ServerLimits",
    "Session",
    "Stream",
    "Synced",
    "subscription_handlers",
]
