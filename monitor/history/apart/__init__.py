"""Questions to a recording that another process answers, whose memory and time have limits."""
