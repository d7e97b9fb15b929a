"""How many queries a difference takes, or what can be seen with those there are."""
