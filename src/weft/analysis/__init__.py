"""Analysis: what scheduling, lowering and execution ask of expressions and formats; nothing here makes loops."""
