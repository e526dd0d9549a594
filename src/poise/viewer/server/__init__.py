"""The server of the page: whom it answers, what is held down, files and pictures that leave it."""
