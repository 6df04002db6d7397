"""The same questions asked of six real interests."""
