"""Parts of a body: which joint is which, how long bones are, fingers, feet, and when parts stand."""
