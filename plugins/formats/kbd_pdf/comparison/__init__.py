"""Comparison of two versions of a PDF file: pages by text and look, then what belongs to the file.

version  one version: its pages with their text and a digest of their look, what it says of itself
objects  what is in attachments, scripts and metadata, as sums
pages    changes of pages, line by line
record   changes of properties, outline, form fields, attachments and actions
compare  the comparison, and the way of a place from one version to the other
"""
