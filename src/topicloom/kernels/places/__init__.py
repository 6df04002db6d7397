"""Where nodes stand in a picture: one thread, and +, -, *, / and sqrt alone, so that every machine draws the same."""
