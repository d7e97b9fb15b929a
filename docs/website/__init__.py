"""The documentation as a site: its sources, and how they look."""
