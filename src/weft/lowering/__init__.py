"""Lowering: concrete index notation to the imperative IR, loop by loop (2017 paper, section 6; 2018, section 4)."""
