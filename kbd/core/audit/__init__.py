"""What a run did, for people: walked through, shown as a page, done again, and kept.

    steps               a run's events folded into steps that a person can walk through
    step_parts          the records that a step holds
    page                a run as one HTML page
    proof               every recorded tool call done again, and what comes out compared
    proof_main          the process of a proof
    proof_process       that process, seen from the daemon
    proof_messages      the order and the answer between the two
    recorded_calls      what the log says of each call
    repeated_call       one call once more
    differences         where two results, or two versions of a file, differ
    plugin_replacement  another version of a plugin, set where it is found first
    case_file           a run in one file that verifies itself
    case_writer         the bytes of a case file
    case_check          the check of one; `verify` is the verifier that lies in the file
    backup              all logs and file versions in one folder
    backup_contents     what goes into it, a file at a time
    backup_inventory    `backup.json`: what a backup holds
    restore             a home made of a backup; `restored_home` sees to its first start
    moment_folder       a workbench as it stood after an event, written to a folder
    whole_paths         files and folders that appear whole or not at all

Reads only, and only what is recorded: nothing here is a second authority. What an event means for
people is told once, in `event_text` and its neighbors in `kbd.core.domain`.
"""
