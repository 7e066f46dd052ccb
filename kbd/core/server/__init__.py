"""JSON-RPC server on a Unix socket: requests in; answers, notifications and events out.

    listener         Server: accepts, refuses, stops; the Unix socket itself
    sockets          Poller, Outbox, Backlogs: one selector for all clients, a bounded send queue
                     for each and a bound for all
    connection       Connection: one client, the session of its requests, and its error lines
    client_requests  Intake, InFlight, InboundBudget: reads requests with backpressure; those not
                     answered yet; room for long ones
    dispatch         Handler, Session, Follow: interfaces of server and handlers; rpc.discover
    metrics_socket   the socket that answers Prometheus
    subscriptions    Hub: publish-subscribe of notifications; subscriptions to events

A client that does not read is dropped with its cursor; nobody else notices. What is bounded: the
bytes of a message, requests in flight (past that a client is not read), what waits for a client,
and long messages and unread answers of all clients together.
"""

from kbd.core.server.dispatch import (
    EventBatch,
    Follow,
    Handler,
    Handlers,
    ServerLimits,
    Session,
    Stream,
    Synced,
)
from kbd.core.server.listener import Server
from kbd.core.server.subscriptions import Hub, subscription_handlers

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
