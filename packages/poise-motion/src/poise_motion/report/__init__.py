"""How well the robot follows: measures, the table, pictures, and notes in words."""
