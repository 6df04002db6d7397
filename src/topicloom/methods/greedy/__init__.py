"""Methods on the greedy engine: fewest links, low degrees, two-topic-connectivity."""
