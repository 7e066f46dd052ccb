"""The proof of a run: every recorded tool call is done again, and what comes out is compared.

It runs in a process of its own, reads the log and the blobs, and writes to a scratch folder only.

    retelling    what the log says of each call: one fold
    scratch      where a proof writes, over the blobs that it reads
    repeating    one call once more
    differing    where two results differ, by fields
    packages     where two versions of a file differ, by parts
    proving      `prove`: all calls of a run
    replacement  another version of a plugin, set where it is found first
    wire         the order and the answer
    __main__     the process
    process      `Proofs`: that process, seen from the daemon

The daemon imports `process` and `wire` only.
"""

__all__: list[str] = []
