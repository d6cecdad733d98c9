"""A line to a server on loopback on which every response takes longer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

CHUNK = 1 << 16


@dataclass
class SlowLine:
    """Passes requests on at once, and the next ``slow`` responses after ``delay_s``. Both may be set at any time."""

    port: int
    target_port: int
    delay_s: float = 0.0
    slow: int = 0

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        """Take connections until the event."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        ready.set()
        await stop.wait()
        server.close()

    async def _connected(self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        try:
            server_in, server_out = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            client_out.close()
            return
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        directions = (self._send(client_in, server_out), self._take(server_in, under_way), _give(under_way, client_out))
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*directions)
        for writer in (client_out, server_out):
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    async def _send(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(CHUNK):
                sink.write(data)
                await sink.drain()
        sink.close()

    async def _take(self, source: asyncio.StreamReader, under_way: asyncio.Queue[tuple[float, bytes]]) -> None:
        """Date what comes by when it arrives: responses that follow each other are under way together."""
        data = b"-"
        while data:
            try:
                data = await source.read(CHUNK)
            except OSError:
                data = b""
            under_way.put_nowait((asyncio.get_running_loop().time() + self._delay_s(), data))

    def _delay_s(self) -> float:
        if not self.slow:
            return 0.0
        self.slow -= 1
        return self.delay_s


async def _give(under_way: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while True:
            at_s, data = await under_way.get()
            await asyncio.sleep(at_s - asyncio.get_running_loop().time())
            if not data:
                break
            sink.write(data)
            await sink.drain()
    sink.close()


@contextmanager
def slow_line(port: int, target_port: int) -> Iterator[SlowLine]:
    """A line from one port of loopback to another, without delay at first."""
    line, ready = SlowLine(port, target_port), threading.Event()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    def run() -> None:
        loop.run_until_complete(line.serve(ready, stop))
        rest = asyncio.all_tasks(loop)
        for task in rest:
            task.cancel()
        if rest:
            loop.run_until_complete(asyncio.wait(rest))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert ready.wait(10), f"port {port} cannot be used"
        yield line
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
