# groupwatch as an image: the job, and the master and the workers of a Spark cluster for it (docs/deployment.md).
# Which Debian and which Java: docs/decisions/0098; which Kafka connector serves which PySpark: 0060.
ARG BASE=python:3.11-slim-bookworm

# What is installed with pip is made in a stage of its own: pip, its cache and what only tests need stay there.
FROM ${BASE} AS build
WORKDIR /src
# The package for Kerberos is released as source only.
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libkrb5-dev \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv --without-pip /opt/groupwatch
# The dependencies first: their layer is the largest and changes seldom.
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir monitor streaming_jobs dashboards \
    && pip --python /opt/groupwatch/bin/python install --no-cache-dir --constraint constraints.txt ".[job,otlp,kerberos,iam]" \
    && pip --python /opt/groupwatch/bin/python uninstall --yes groupwatch \
    && rm -r /opt/groupwatch/lib/python3.11/site-packages/pyspark/examples \
    && find /opt/groupwatch/lib/python3.11/site-packages/pandas /opt/groupwatch/lib/python3.11/site-packages/numpy \
        /opt/groupwatch/lib/python3.11/site-packages/pyarrow -depth -type d -name tests -exec rm -r {} +
# monitor has links to the Markdown of its pages of help.
COPY docs docs
COPY monitor monitor
COPY streaming_jobs streaming_jobs
COPY dashboards dashboards
RUN pip --python /opt/groupwatch/bin/python install --no-cache-dir --no-deps .

FROM ${BASE}
ARG JAVA=17
# tini, because the first process of a container has to reap what its children leave behind.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgssapi-krb5-2 "openjdk-${JAVA}-jre-headless" procps tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 groupwatch \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/groupwatch --no-create-home groupwatch \
    && install -d -o groupwatch -g groupwatch /var/lib/groupwatch /var/lib/spark /run/spark
COPY --from=build /opt/groupwatch /opt/groupwatch

# All jars that a job may need and an archive of Java's classes are put into the image: a start needs no network but
# Kafka's, writes nothing beside them, and is shorter where the archive fits (docs/decisions/0014). The Kafka broker with
# which it was made is not needed.
ENV PATH=/opt/groupwatch/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    GROUPWATCH_CACHE=/opt/groupwatch/cache
RUN groupwatch prepare --all-jars \
    && rm -r "$GROUPWATCH_CACHE"/kafka-* \
    && groupwatch --version

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="groupwatch" \
    org.opencontainers.image.description="Who should own each partition of a consumer group, who does, and how far behind they are." \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"

# As a number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/groupwatch
VOLUME /var/lib/groupwatch
EXPOSE 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9464/healthz', timeout=5)"]
ENTRYPOINT ["tini", "--", "groupwatch"]
CMD ["run", "--config", "/etc/groupwatch/groupwatch.toml"]
