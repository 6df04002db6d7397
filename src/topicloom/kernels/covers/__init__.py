"""Kernels that cover topics by few nodes: star sets, backups, stars of diameter two."""
