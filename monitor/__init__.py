"""groupwatch decides here: what a consumer group should look like, what it does look like, and what is wrong."""
