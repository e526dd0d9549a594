"""What every folder may use and no robot is needed for: errors, checks, files, tables, progress, lazy imports."""
