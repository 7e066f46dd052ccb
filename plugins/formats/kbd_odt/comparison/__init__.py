"""Comparison of OpenDocument texts: what differs between two versions, where, where a place is now.

    text_comparison   the comparison, places followed, and places found by their titles
    text_version      a version: its paragraphs and tables with their looks, and what is around
    text_matches      which paragraphs of two versions are the same, which moved

A paragraph's number is that of the map and the readings: over the whole text, from 1 in titles and
from 0 in `Place.paragraph`; paragraphs in tables, notes and boxes are not counted.
"""
