"""Audit of runs: steps to walk through, HTML pages, replay proofs, case files and backups.

    steps               folds a run's events into steps that a person can walk through
    step_parts          the records that a step holds
    run_spans           a run as spans of OpenTelemetry, and their encoding
    html                what the HTML pages share: escaped markup, styles, policy
    page                a run as one HTML page
    review_page         what a draft changes, as one HTML page, and as pieces for other hosts
    proof               replay proof: repeats every recorded tool call and compares the results
    proof_main          entry point of the proof's process
    proof_process       that process, seen from the daemon, and the messages between the two
    recorded_calls      calls of a run, folded from the log, and repeated
    reading_changes     how a call's tables are read otherwise than they were
    differences         where two results, or two versions of a file, differ
    plugin_replacement  another version of a plugin, put first on the import path
    case_file           a run in one file that verifies itself, written and checked; `verify` is the
                        verifier that lies in it
    receipt_check       checker of receipts, of the standard library alone
    receipt_folder      its modules, and the same as one file that Python runs
    backup              all logs, file versions and archives in one folder
    backup_contents     what goes into it, a file at a time
    backup_inventory    `backup.json`: what a backup holds
    log_inspection      a log from outside: the names in it lead nowhere else
    home_logs           logs of a home, listed and verified; without a daemon, too
    scrub_main          the scrubber's process, which verifies logs and file versions
    archived_logs       archives verified without being opened, out of a copy
    archive_repair      repair of archives by a backup
    home_repair         repair of logs and file versions of a home that no daemon has
    restore             a home made of a backup, and its first start
    moment_folder       a workbench as it stood after an event, written to a folder
    whole_paths         atomic creation of files and folders: whole or not at all

Reads only, and only what is recorded: nothing here is a second authority. What an event means for
people is told once, in `event_text` and its neighbors in `kbd.core.domain`.
"""
