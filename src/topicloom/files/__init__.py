"""Files: read as people have them, written whole or not at all."""
