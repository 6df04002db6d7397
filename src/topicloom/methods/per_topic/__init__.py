"""Methods that build a graph for every topic and merge the graphs."""
