"""Studies of the Greedy Merge paper."""
