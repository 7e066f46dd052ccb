"""Confinement of worker calls by the operating system, for what a hostile file could take over.

process          `confine_process`: all of it, for the one call that this process is
landlock         which files a process may open
syscall_filter   which system calls it may make
syscall_numbers  their numbers, for each kind of machine
layers           which of these the system offers
"""
