"""Small interests solved to the end: the fewest links, proved, and questions of existence."""
