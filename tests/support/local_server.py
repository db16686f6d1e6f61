"""An aiohttp application on 127.0.0.1, in a thread of the test: the frame of the servers that tests talk to."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from aiohttp import web


class LocalServer:
    """A context manager that listens on a free port (or the one given) and ends when it is left."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()

    def application(self) -> web.Application:
        """The routes; written by each server."""
        raise NotImplementedError

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Any:
        self._thread.start()
        if not self._ready.wait(30):
            raise RuntimeError("the server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    def join(self) -> None:
        """Wait until the server ends (for a process of its own)."""
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
