"""Models of poise in other programs, a file each."""
