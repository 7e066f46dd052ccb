"""JSON-RPC server on a Unix socket: requests in; answers, notifications and events out.

    listener       Server: accepts, refuses, stops; the Unix socket itself
    poller         Poller: one selector for all clients' sockets
    intake         Intake: reads requests from one client, with backpressure
    connection     Connection: one client, the session of its requests, and its error lines
    in_flight      unanswered requests of one client, and the tasks that answer them
    outbox         Outbox, Post: bounded send queue of one client
    discovery      rpc.discover: the OpenRPC document
    dispatch       Handler, Session, Follow: interfaces between server and handlers
    hub            Hub: publish-subscribe of notifications, by workbench
    subscriptions  EventsSubscribe and EventsUnsubscribe
    limits         limits on what a client may ask

A client that does not read is dropped with its cursor; nobody else notices. What is bounded: the
bytes of a message, requests in flight (past that a client is not read), what waits for a client.
"""

from kbd.core.server.dispatch import EventBatch, Follow, Handler, Handlers, Session, Stream, Synced
from kbd.core.server.hub import Hub
from kbd.core.server.limits import ServerLimits
from kbd.core.server.listener import Server
from kbd.core.server.subscriptions import subscription_handlers

__all__ = [
    "EventBatch",
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
