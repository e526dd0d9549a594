"""How an answer moves when its targets, weights or placements change."""
