"""What groupwatch sends of its own accord: its metrics, to an OpenTelemetry collector."""
