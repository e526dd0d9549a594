"""The functions and classes of users around the search: `solve`, `Solver`, `solve_batch`, `solve_all`."""
