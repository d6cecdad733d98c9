"""The tables for questions in SQL: what follows from a chronicle, and days of a group from them."""
