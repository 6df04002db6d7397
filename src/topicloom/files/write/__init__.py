"""Files and folders that appear whole or not at all, and the overlay directory."""
