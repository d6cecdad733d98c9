"""Passes that are attempted one after the other: a failure is reported and never ends the collector."""

from __future__ import annotations

import logging
import time
import traceback
from abc import abstractmethod
from typing import ClassVar

from kafka.errors import KafkaError

from monitor.collectors.errors import ClusterAway, CollectorError
from monitor.collectors.kafka_client.connection import error_name, is_unanswered
from monitor.collectors.passes.health import PassCounter
from monitor.config import ConfigError

log = logging.getLogger(__name__)


class RetryingCollector(PassCounter):
    """Base of collectors that make passes themselves."""

    a_pass: ClassVar[str] = "a pass"
    """What is attempted, in a sentence."""
    failures_in_a_row = 0
    """How many passes have failed since the newest that did not."""
    is_away = False
    """Whether the cluster did not answer in the newest attempt that has ended."""

    @abstractmethod
    def collect(self) -> object:
        """Make one pass, and note how it went unless it fails.

        Raises:
            CollectorError, ConfigError: the text is the whole story.
            KafkaError, OSError: a request failed.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections. The next pass opens new ones."""

    def attempt(self) -> bool:
        """Make one pass and remember how it went. After a failure the next attempt uses new connections."""
        began_s = time.monotonic()
        try:
            self.collect()
        except (CollectorError, ConfigError) as error:
            return self._note_failure(str(error), is_away=isinstance(error, ClusterAway))
        except (KafkaError, OSError) as error:
            sentence = self._problem_sentence(f"failed ({error_name(error)}); retrying.")
            return self._note_failure(sentence, is_away=is_unanswered(error))
        except Exception as error:  # a defect of ours: without this the thread would end unnoticed
            where = "".join(traceback.format_tb(error.__traceback__))  # without the values, which may be secrets
            log.error("%s\n%s", self._problem_sentence(f"ended with a {type(error).__name__}, a defect:"), where)  # noqa: TRY400 -- see above
            return self._note_failure(
                self._problem_sentence(f"ended with a {type(error).__name__}, a defect (see the log).")
            )
        else:
            self.failures_in_a_row, self.is_away = 0, False
            return True
        finally:
            self._end_pass(began_s)

    def _problem_sentence(self, what: str) -> str:
        return f"Cluster {self._cluster_name}: {self.a_pass} {what}"

    def _note_failure(self, problem: str, *, is_away: bool = False) -> bool:
        self.is_away = is_away
        self.failed_passes += 1
        self.failures_in_a_row += 1
        self.problem, self.warning = problem, None
        self.close()
        return False
