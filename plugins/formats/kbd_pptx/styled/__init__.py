"""How a deck looks, and what of it another one can take."""
