"""Das, Slotine and Sheridan 1988: a ten-link arm among obstacles, and an arm on a vehicle."""
