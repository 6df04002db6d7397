"""Studies of the Low-ODA paper."""
