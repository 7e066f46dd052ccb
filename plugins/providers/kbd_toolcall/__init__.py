"""A provider that lets a model which can only write text call tools, by a protocol of text."""
