"""An embedder that runs a sentence model on this machine's processor."""
