"""The checkpoint of one cluster's query: where it is, and whether it was written with the same layout."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import msgspec
from pyspark.sql import SparkSession

LAYOUT_FILE: Final = "groupwatch-layout.json"


class CheckpointError(Exception):
    """The checkpoint cannot be continued; the text says why and what to do."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """What must not change while a checkpoint lives."""

    cluster: str
    buckets: int
    events_topic: str


class Checkpoint:
    """One cluster's checkpoint folder, on any file system that Spark knows."""

    def __init__(self, spark: SparkSession, root: str, cluster: str) -> None:
        self.path = f"{root.rstrip('/')}/{quote(cluster, safe='')}"
        jvm: Any = spark._jvm
        self._folder = jvm.org.apache.hadoop.fs.Path(self.path)
        self._file = jvm.org.apache.hadoop.fs.Path(f"{self.path}/{LAYOUT_FILE}")
        self._offsets = jvm.org.apache.hadoop.fs.Path(f"{self.path}/offsets")
        self._files = self._folder.getFileSystem(jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf())
        self._io = jvm.org.apache.commons.io.IOUtils
        self._utf8 = jvm.java.nio.charset.StandardCharsets.UTF_8

    @property
    def resumed(self) -> bool:
        """Whether a query has already begun a micro-batch here."""
        return bool(self._files.exists(self._offsets)) and len(self._files.listStatus(self._offsets)) > 0

    def claim(self, layout: Layout) -> None:
        """Write the layout into a new checkpoint, or check that it is the one that was written.

        Raises:
            CheckpointError: the checkpoint was written with another layout.
        """
        if self._files.exists(self._file):
            self._compare(layout)
            return
        stream = self._files.create(self._file, False)
        try:
            self._io.write(msgspec.json.encode(layout).decode(), stream, self._utf8)
        finally:
            stream.close()

    def _compare(self, layout: Layout) -> None:
        stream = self._files.open(self._file)
        try:
            text = self._io.toString(stream, self._utf8)
        finally:
            stream.close()
        try:
            written = msgspec.json.decode(text, type=Layout)
        except msgspec.DecodeError as error:
            raise CheckpointError(
                f"{self.path}/{LAYOUT_FILE} cannot be read ({error}). Choose another checkpoint."
            ) from error
        if written != layout:
            raise CheckpointError(
                f"The checkpoint {self.path} was written with {_differences(written, layout)}. "
                "Set it back, or choose another checkpoint; the log is then read again from its beginning."
            )


def _differences(written: Layout, wanted: Layout) -> str:
    return ", ".join(
        f"{name} = {getattr(written, name)!r} (now {getattr(wanted, name)!r})"
        for name in Layout.__struct_fields__
        if getattr(written, name) != getattr(wanted, name)
    )
