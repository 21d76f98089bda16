"""Passes over the imperative IR, each from function to function."""
