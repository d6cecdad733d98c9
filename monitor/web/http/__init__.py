"""The server below the app: connections and their limits, TLS, access, and responses to what is refused."""
