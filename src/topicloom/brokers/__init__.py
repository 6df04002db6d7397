"""From a plan to running brokers: inventory, network, a folder per kind, rehearsals, audits."""
