"""The commands, one file each: a function ``command`` with its options, and an ``EXAMPLE`` for its help."""
