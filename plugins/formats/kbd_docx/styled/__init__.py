"""How a document looks, and what of it another one can take."""
