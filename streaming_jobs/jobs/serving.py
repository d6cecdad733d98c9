"""The HTTP server as the settings want it."""

from __future__ import annotations

from starlette.applications import Starlette

from monitor.config import HistorySettings
from monitor.config.http import HttpSettings
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.replay import inputs_at
from monitor.history.story import GroupStory, tell_story
from monitor.web.app import create_app
from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from streaming_jobs.driver.snapshot_store import SnapshotStore


class RecordedPast:
    """The recording in a folder. It is opened for each question: tables grow, and questions are few."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """See monitor.web.views.past.Past."""
        from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- 0.1 s that most starts need not

        return inputs_at(DeltaRecording(self._folder), cluster, group, at_ms)

    def story(self, cluster: str, group: str, since_ms: int, until_ms: int) -> GroupStory | None:
        """See monitor.web.views.past.Past."""
        from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- as above

        return tell_story(DeltaRecording(self._folder), cluster, group, since_ms, until_ms)


def http_server(
    source: SnapshotStore | Starlette,
    settings: HttpSettings,
    port: int | None = None,
    history: HistorySettings | None = None,
) -> HttpServer:
    """Serve this as the settings say; ``port`` goes before theirs. ``history`` says where the recording is."""
    past = RecordedPast(history.folder) if history is not None and history.folder is not None else None
    app = create_app(source, process=source.process, past=past) if isinstance(source, SnapshotStore) else source
    files = AccessFiles(web_config_file=settings.web_config_file, token_file=settings.token_file)
    return HttpServer(app, settings.bind, settings.port if port is None else port, files)
