"""Changes to a deck, new or not: what no operation names stays as it is.

blank        a new deck, and how it is written
"""
