#!/bin/sh
# Starts Spark's master. The first time it makes up the secret that master, worker and job share (docs/access.md):
# without it, whoever reaches port 7077 could run programs on the worker.
set -eu
umask 077
folder=${SPARK_SECRET_FOLDER:-/run/spark}
if [ ! -s "$folder/secret" ]; then
    python -c 'import secrets; print(secrets.token_hex(32))' > "$folder/secret.new"
    printf 'spark.authenticate true\nspark.network.crypto.enabled true\nspark.authenticate.secret %s\n' \
        "$(cat "$folder/secret.new")" > "$folder/spark.conf"
    mv "$folder/secret.new" "$folder/secret"
fi
exec spark-class org.apache.spark.deploy.master.Master "$@" --properties-file "$folder/spark.conf"
