"""How far ranked lists agree, without judgements."""
