"""Everything about an evaluation in one HTML file."""
