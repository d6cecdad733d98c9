"""The only clients of the monitored systems: they look at a system and write what they saw as events."""
