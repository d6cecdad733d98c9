"""Java's archive of the classes that a job uses (class data sharing, AppCDS), which a JVM maps instead of loading them.

Loading 15,000 classes from jars takes a driver's JVM two seconds of CPU at every start. An archive is right for one
Java and one class path only, so its name is a digest of both: one that fits nothing any more is never looked at.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from monitor.java_runtime.jars import cache_dir, pyspark_jars_dir
from monitor.model import Value

log = logging.getLogger(__name__)

FOLDER: Final = "classes"
"""Below the cache folder."""

USE: Final = "-XX:SharedArchiveFile="
WRITE: Final = "-XX:ArchiveClassesAtExit="
WARNINGS_TO_STANDARD_ERROR: Final = "-Xlog:disable -Xlog:all=warning:stderr"
"""A JVM that cannot use its archive reports it, by default on the standard output, and continues without."""


class ArchiveNotWrittenError(Exception):
    """Java did not write an archive; the text says why, and where to look."""


class ClassArchive(Value):
    """The place of an archive, which may be empty. Its checksum lies beside it and is written last."""

    file: Path

    @property
    def checksum_file(self) -> Path:
        """Where the digest of the archive's bytes is kept."""
        return self.file.with_suffix(".sha256")

    def is_whole(self) -> bool:
        """Whether the archive is there with the bytes that were written.

        A JVM does not look: it dies of a truncated one (SIGBUS). Reading all of it takes a tenth of a second or two.
        """
        try:
            wanted = self.checksum_file.read_text(encoding="ascii")
            found = _digest_of(self.file)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            log.warning("The archive of Java's classes %s cannot be read (%s): starting without it", self.file, error)
            return False
        if found != wanted:
            log.warning("The archive of Java's classes %s is damaged: starting without it", self.file)
        return found == wanted

    def keep(self, written: Path) -> None:
        """Take a file that a JVM has just written, on the same disk, for the archive."""
        self.checksum_file.unlink(missing_ok=True)
        digest = _digest_of(written)
        written.rename(self.file)
        unnamed = self.checksum_file.with_suffix(".part")
        unnamed.write_text(digest, encoding="ascii")
        unnamed.rename(self.checksum_file)


def archive_for(java_home: Path, class_path: str) -> ClassArchive:
    """Where the archive of this Java and this class path belongs, with what it was made of.

    Args:
        java_home: the folder of the Java that starts the driver.
        class_path: what comes before Spark's own jars, separated as Java does it.
    """
    digest = hashlib.sha256()
    for part in _archive_inputs(java_home, class_path):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\n")
    return ClassArchive(file=cache_dir() / FOLDER / f"{digest.hexdigest()[:32]}.jsa")


def with_archive(options: str, java_home: Path, class_path: str) -> str:
    """A JVM's options, extended by the archive if there is one and the options name none themselves."""
    if USE in options or WRITE in options:
        return options
    archive = archive_for(java_home, class_path)
    if not archive.is_whole():
        if not archive.file.exists() and any(archive.file.parent.glob("*.jsa")):
            log.info(
                "No matching archive of Java's classes in %s: `groupwatch prepare` writes one", archive.file.parent
            )
        return options
    log.info("Java starts with the archive of classes %s", archive.file)
    # Before the deployment's own options, which may well say -Xshare:off or -Xlog.
    return f"{WARNINGS_TO_STANDARD_ERROR} {shlex.quote(USE + str(archive.file))} {options}"


def to_write(options: str, file: Path) -> str:
    """A JVM's options, extended so that it writes an archive of the classes it has used when it ends."""
    return f"{WARNINGS_TO_STANDARD_ERROR} {shlex.quote(WRITE + str(file))} {options}"


def _archive_inputs(java_home: Path, class_path: str) -> Iterator[str]:
    yield _stamp(java_home / "lib" / "modules")
    for place in class_path.split(os.pathsep):
        yield _stamp(Path(place))
    for jar in os.scandir(pyspark_jars_dir()):  # in the folder's order, in which Java takes them too
        yield _stamp(Path(jar.path))


def _stamp(file: Path) -> str:
    """What Java compares, also of the jars: name, size, and the time of the last change in seconds."""
    try:
        found = file.stat()
    except OSError:
        return f"{file} is absent"
    return f"{file} {found.st_size} {int(found.st_mtime)}"


def _digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
