"""What a solve returns: the solution or all of them, their errors, and why they are not better."""
