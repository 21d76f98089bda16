"""Scheduling: estimate the cost of every strategy and loop order, and write the cheapest as concrete index notation."""
