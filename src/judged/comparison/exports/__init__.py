"""What people and programs get of a comparison."""
