"""The general case of the sticky assignors: members subscribe to different topics."""
