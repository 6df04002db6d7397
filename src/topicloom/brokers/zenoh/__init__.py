"""Zenoh: what is written for it, rehearsed on it, and read from it."""
