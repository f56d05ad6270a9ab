"""What of Sluice is written in Python: reading what jobs left behind, and acting on it."""
