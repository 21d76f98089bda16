"""Ratios of weft's times to its peers' times, each pair measured in one process."""
