"""RocketMQ's remoting protocol: frames, signatures, requests and responses."""
