"""What the name servers and brokers of RocketMQ are asked."""
