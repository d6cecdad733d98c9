"""A folder on the path of what Spark's JVM starts: Python runs its ``sitecustomize`` before anything else."""
