"""Formatting of a deck, described in words.

style_list   the answer of `get_styles`, with the words for text and fills
deck         masters, layouts and themes: which parts they are, and what people call them
inheritance  from whom a shape has its formatting, and that of text level by level
pictures     the pictures, and where they stand
"""
