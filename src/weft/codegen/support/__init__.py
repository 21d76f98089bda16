"""Texts of the C support functions, one file for each subject."""
