"""A problem, and what it is solved with: `solve`, `solve_all`, `Solver`, `Tracker`, `solve_path`; and the answers."""
