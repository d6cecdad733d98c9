"""Expectations as a file has them, and what becomes of them."""
