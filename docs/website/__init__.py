"""The documentation as a site: the Markdown of this repository, pages made from the registries, and
how they look."""
