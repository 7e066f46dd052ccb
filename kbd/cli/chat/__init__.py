"""`kbd chat`: a conversation with a workbench, or with a folder of files, in a terminal or a pipe.

    entry           entry point: finds the workbench, and reads lines from a person or a pipe
    prompt          line editor: keys, history, completion
    session         state of a conversation; its spinner
    slash_commands  parses a line: a slash command, or a message; commands that change something
    answer          sends a message, shows the run live and the answer as it comes
    views           slash commands that only show something; `/review`
    folder          synchronizes a folder's files into the workbench

There is one rule for streams: stdout has what was asked for, stderr has everything else.
"""
