"""Searching for prices that prove how few links are possible."""
