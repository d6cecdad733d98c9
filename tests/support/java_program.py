"""Java programs of the tests, from source; see :mod:`monitor.demo.java.clients`."""

from __future__ import annotations

from monitor.demo.java.clients import java_command
from monitor.demo.servers.kafka_applications import client_jars as jars_of_kafka
from monitor.demo.servers.kafka_applications import streams_jars as jars_of_streams_and_connect

__all__ = ["jars_of_kafka", "jars_of_streams_and_connect", "java_command"]
