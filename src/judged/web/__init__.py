"""The explorer: a local web app over the same objects, safe by default."""
