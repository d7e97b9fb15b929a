"""Values, policy and summary: from rankings to numbers that say what they mean."""
