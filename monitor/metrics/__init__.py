"""What is published: the table of metrics, their text, the status page and the JSON API."""
