"""Clients of the daemon.

    blocking   Client: sockets and JSON only, for programs that must start at once
    aio        AsyncClient: the same on anyio, with many requests at a time
    errors     what both raise

    following  events on their way from a subscription to who follows it
    waiting    those who wait for what the asynchronous client reads
    places     where the daemon is

Nothing is imported here, so that a thin client pays for nothing but itself.
"""
