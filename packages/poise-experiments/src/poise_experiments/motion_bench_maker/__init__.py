"""MotionBenchMaker's sets: poses of a hand among shelves, boxes, cages and tables."""
