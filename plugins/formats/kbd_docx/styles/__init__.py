"""Formatting of a document, described in words.

style_list  the answer of `get_styles`, in words
stylesheet  styles and lists, with what they come to after inheriting
properties  formatting as a flat table, and elements in the order of the schema
theme       fonts and colors that references to a theme mean
sections    the sections of pages, their headers and footers
header_references
            which headers sections reference, changed for some of them only
pictures    the pictures of body, headers and footers
"""
