"""Interest, Overlay and the other frozen result types."""
