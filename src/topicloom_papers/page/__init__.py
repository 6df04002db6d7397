"""The page of results: tables, plots, verdicts and explanations from finished cells."""
