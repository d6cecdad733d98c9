"""When a cluster is ready to be judged, and whether what is known is new enough. Pure; time is a parameter."""
