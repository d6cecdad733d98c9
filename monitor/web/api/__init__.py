"""The JSON API: addresses, lists, cached responses, and their documentation."""
