"""Layout of pages: words with their places, rules, and the tables that both make.

`words` places words and makes lines of them, `rules` finds what is drawn straight. `grids` is what
rules part, `columns` and `blocks` what gaps part, `cells` makes rows of lines; `tables` puts them
together for a page. `text` is a page as it looks, `reading` answers for the pages of a file.
"""
