"""Records of Kafka's coordinators: classic and KIP-848 groups, and what clients write into them."""
