"""Numba functions over plain arrays: no classes, no I/O, no imports from the layers above."""
