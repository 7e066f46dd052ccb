"""The proof of a run: every recorded tool call is done again, and what comes out is compared.

It runs in a process of its own, reads the log and the blobs, and writes to a scratch folder only.
"""

__all__: list[str] = []
