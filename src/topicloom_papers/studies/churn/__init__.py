"""Studies of the shadows paper."""
