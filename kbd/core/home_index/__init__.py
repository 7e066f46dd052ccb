"""Index of what there is in a home: a row a workbench and a row a run, so that lists open no log.

    rows            what a row says, made of the state that a log is folded to
    queries         what a list request asks for, as SQL
    storage         what takes how much, and since when what is settled, as SQL
    database        the rows in SQLite: a projection that may be deleted at any time
    reader          reads closed logs, in a process of its own
    reader_process  that process, seen from the daemon
    verified_logs   when each log was verified last, in a file of its own

Who keeps the rows in step with the logs is `kbd.core.sessions.indexer`.
"""
