"""Jobs: small declarative programs over tables and documents, written by rules, models or people.

records    what a job is: inputs, steps, checks
"""
