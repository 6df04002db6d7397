"""The greedy engine: one loop, three searches for the best link, two kinds of progress."""
