"""Kernels of churn: repairing topics, choosing backups, sparing links, lists that grow."""
