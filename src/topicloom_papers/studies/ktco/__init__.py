"""Studies of the kTCO paper."""
