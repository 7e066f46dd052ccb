"""Comparison of two versions of a picture.

frames    the frames of a picture, each with a digest of its pixels; how much of two differs
metadata  what a file says of itself, by name
compare   the comparison, and the way of a place from one version to the other
"""
