"""Overlays to compare with: what people build without looking at topics."""
