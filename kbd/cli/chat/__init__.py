"""`kbd chat`: a conversation with a workbench, or with a folder of files, in a terminal or a pipe.

    entry           entry point: finds the workbench, and reads lines from a person or a pipe
    prompt          line editor: keys, history, completion
    session         state of a conversation
    slash_commands  parses a line: a slash command, or a message
    answer          sends a message and shows its answer
    run_view        live view of a run: status, tool calls in full, the answer as it comes
    views           slash commands that only show something
    review_view     `/review`
    actions         slash commands that change something
    busy            spinner, and a terminal without echo, while a person waits
    model_names     resolves the name of a model
    folder          synchronizes a folder's files into the workbench

There is one rule for streams: stdout has what was asked for, stderr has everything else.
"""
