"""Is the collection itself sound, and what do its faults do to the numbers?"""
