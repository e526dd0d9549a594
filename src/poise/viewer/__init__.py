"""A robot in the browser: what is looked at, dragged, recorded and guided."""
