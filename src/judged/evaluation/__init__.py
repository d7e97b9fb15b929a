"""Values, policy and summaries: from rankings to numbers with their definitions."""
