"""Groups without a leader: each member works out its own share (RocketMQ, MetaQ, ZooKeeper)."""
