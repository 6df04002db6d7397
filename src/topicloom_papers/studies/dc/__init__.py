"""Studies of the star-merge paper."""
