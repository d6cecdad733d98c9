"""Real servers and consumers that go wrong: for ``groupwatch demo`` and for tests."""
