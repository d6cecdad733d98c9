"""Where Java is, and the jars that come with PySpark."""
