"""How a query and an item are compared."""
