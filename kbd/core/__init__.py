"""The core: how a command becomes an event, and how a run does its work.

Fifteen rooms; a module imports from its own room and those below it. From the bottom up:

    runtime     event loop, time, folders, settings, keys
    metrics     what the daemon counts, in the format of Prometheus
    domain      state and decisions, pure
    store       logs of events, their one writer, snapshots, redaction
    plugins     loading, the catalog, and the processes that plugins' code runs in
    workbench   one workbench: files, draft, publishing, and what clients read of it
    home_index  what there is in a home: a row a workbench and a run
    gateway     what may leave the machine, and what it may cost
    search      documents, their index, and the tools over it
    agent       a run, from its message to its summary
    sessions    open workbenches, and the runs under way in them
    audit       what a run did, for people: steps, pages, case files, proofs, backups
    watch       watched folders, and the runs on what lands in them
    server      the socket: requests, answers, subscriptions
    api         assembly of the daemon, and what answers each request

`workspace` is the public face of the search, for programs without a daemon.
"""

__all__: list[str] = []
