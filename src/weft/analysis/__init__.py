"""Analysis: queries of scheduling, lowering and execution about expressions and formats, without building loops."""
