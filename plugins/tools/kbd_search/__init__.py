"""The tools that search, list, read and summarize the workbench's documents."""
