"""To be declared."""
