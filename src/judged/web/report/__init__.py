"""The report: an evaluation in one HTML file."""
