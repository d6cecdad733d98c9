"""The client libraries whose members groupwatch can meet in a group of Kafka."""

from __future__ import annotations

from enum import StrEnum


class Library(StrEnum):
    """A client library, by the name under which it is published."""

    JAVA = "java"
    """kafka-clients, Kafka's own."""
    LIBRDKAFKA = "librdkafka"
    """Also under confluent-kafka for Python, Go and .NET."""
    SARAMA = "sarama"
    """github.com/IBM/sarama."""
    KAFKA_GO = "kafka-go"
    """github.com/segmentio/kafka-go."""
    FRANZ_GO = "franz-go"
    """github.com/twmb/franz-go."""
    KAFKAJS = "kafkajs"
    PLATFORMATIC = "platformatic"
    """@platformatic/kafka."""
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
