"""The assignors inside kafka-clients: the classic group's leader runs them."""
