# groupwatch as an image. Bookworm, because the Debian after it has no Java 17 and Spark 4.0 knows 17 and 21 only.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/groupwatch
# The dependencies first: their layer is 450 MB and changes seldom.
COPY pyproject.toml constraints.txt README.md LICENSE ./
RUN mkdir monitor streaming_jobs dashboards \
    && pip install --no-cache-dir --constraint constraints.txt . \
    && pip uninstall --yes groupwatch

COPY monitor monitor
COPY streaming_jobs streaming_jobs
COPY dashboards dashboards
RUN pip install --no-cache-dir --no-deps .

# Spark's Kafka connector and an archive of Java's classes are put into the image: a start needs no network but Kafka's,
# and is shorter where the archive fits (docs/decisions/0014). The Kafka broker with which it was made is not needed.
ENV GROUPWATCH_CACHE=/opt/groupwatch/cache
RUN groupwatch prepare \
    && rm -r "$GROUPWATCH_CACHE"/kafka-* \
    && useradd --system --create-home groupwatch \
    && install -d -o groupwatch -g groupwatch /var/lib/groupwatch

USER groupwatch
WORKDIR /var/lib/groupwatch
VOLUME /var/lib/groupwatch
EXPOSE 9464
ENTRYPOINT ["groupwatch"]
CMD ["run", "--config", "/etc/groupwatch/groupwatch.toml"]
