"""The tools of ``groupwatch mcp``: what agents may request of a job, and how its answers are marked for them."""
