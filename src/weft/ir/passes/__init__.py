"""Passes over the imperative IR, each of which takes a function and returns a function."""
