"""Pages of the browser: served, recorded in one file, or solved in the page itself."""
