"""Clients of the daemon.

    blocking   Client: sockets and JSON only, for programs that must start at once
    aio        AsyncClient: the same on anyio, with many requests at a time
    errors     what both raise

Nothing is imported here, so that a thin client pays for nothing but itself.
"""
