"""Overlays in which every topic has diameter two (the Low-ODA paper, section 6)."""
