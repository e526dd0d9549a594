"""The panel beside the picture: widgets that change what is looked at, and follow it."""
