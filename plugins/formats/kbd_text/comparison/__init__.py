"""Comparison of two versions of a text, line by line.

    lines       how a version is read for it, and which lines differ
    line_match  which lines became which: changed ones paired, moved ones found
    hunks       lines that differ, with those around them
    changes     the comparison itself
    places      where a line is in the other version, and what people write for it

Between two versions in UTF-8 what is the same is skipped by its bytes; else both are decoded whole.
"""
