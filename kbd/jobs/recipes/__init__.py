"""Recipes: jobs that were done once, to be done again with other files of the same shape.

What a recipe is:

    records          jobs, request, constants, assumptions
    documents        the same as TOML and JSON, and its hash
    requests         jobs and recipes as the messages of runs

From a job that ran to one for other files:

    merged_jobs      one job of two, where the second reads what the first wrote
    generalization   the whole of it; what a recipe's own literals lack
    provenance       where each literal comes from, or why it may not stay
    literals         the literals of a job, their places and uses
    column_use       which columns a job names
    table_labels     labels of tables without what is of one file
    file_patterns    patterns of files, templates of names
    facts            what was in the files, what the run told

What a request says:

    request_words    its texts, and all of these
    request_numbers  its numbers
    request_days     its days and periods

Trials:

    trial_tables     changed inputs
    trial_checks     what must hold of their results

Nothing here reads or writes a file, or asks what time it is.
"""
