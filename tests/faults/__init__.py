"""Faults caused on purpose: ``make test-faults`` runs them all, ``make test`` a short form."""
