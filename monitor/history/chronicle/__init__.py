"""What happened to a group from one instant to another: as values, and how these are made from a recording."""
