"""The core: how a command becomes an event, and how a run does its work.

Read from the bottom up, for a module knows only those below it:

    paths, clock, diagnostics   where things lie, what time it is, the daemon's own log
    hosts                       addresses in one spelling
    bell, readiness             waking who waits; the event loop's ear for sockets and threads
    scribe                      a thread that writes
    settings                    what can be configured, read once at start
    plugins, state, secrets     what is installed; the pure state of a workbench; API keys
    snapshots                   folded state, so that a start need not replay a whole log
    catalog, decisions, journal formats, tools and providers by name; the pure rules; the log
    renewal                     snapshots while a log grows
    redaction                   known keys, blotted out of what is kept
    workers                     processes in which hostile and heavy work is done
    draft, outbound             the draft's files; the one HTTP client
    workspace                   documents, their index, and the tools over it
    keeper                      the single writer of a log
    egress, purse               what may leave the machine; what models may cost in a day
    bench                       one open workbench
    queries                     answers from state
    agent, review, archive      a run; its change set; exports and backups
    server, supervisor, watcher the socket; which runs are alive; what lands in watched folders
    proof                       a run's calls done again, in a process of its own
    unattended                  a run on what landed, from its workbench to its outcome
    methods                     what answers each request
    daemon                      assembly
"""

__all__: list[str] = []
