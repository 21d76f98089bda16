"""Lowering: iteration graph, schedule, merge lattices, loops, results; concrete notation to imperative IR."""
