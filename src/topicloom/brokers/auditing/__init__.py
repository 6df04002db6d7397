"""Audits: follow messages through existing configurations, and say what is wrong."""
