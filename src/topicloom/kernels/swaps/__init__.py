"""Making a finished overlay better: links are taken out, and put back where they serve more."""
