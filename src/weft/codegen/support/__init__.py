"""The texts of the C support functions, one file a subject."""
