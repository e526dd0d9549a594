"""The operator's program: a hand that is guided, attempts that are recorded, their measures and files."""
