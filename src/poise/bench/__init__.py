"""Methods side by side: sets of problems, a judge that trusts no solver, the comparison and its report."""
