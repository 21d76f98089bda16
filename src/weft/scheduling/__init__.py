"""Scheduling: every strategy and every loop order is priced, and the cheapest written as concrete index notation."""
