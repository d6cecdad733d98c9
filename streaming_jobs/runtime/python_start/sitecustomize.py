"""Python runs this as it starts, in each process of Spark's JVM (see streaming_jobs.runtime.archives).

One that is earlier on the path, such as that of an agent for tracing, runs in its place: only time is lost.
"""

from streaming_jobs.runtime.archives import leave_out_archives

leave_out_archives()
