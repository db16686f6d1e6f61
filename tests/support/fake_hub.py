"""A stand-in for the Hugging Face Hub on 127.0.0.1 that serves dataset repositories from local folders.

It answers the calls that ``datasets`` makes to load parquet files: repository information, the file tree, and the
files themselves with the headers by which the client names the commit. Give it to the client as HF_ENDPOINT.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web
from support.local_server import LocalServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub(LocalServer):
    """A context manager; ``repositories`` maps a dataset's name (``owner/name``) to the folder of its files."""

    def __init__(self, repositories: Mapping[str, Path], revisions: tuple[str, ...] = ("main", COMMIT)) -> None:
        super().__init__()
        self.requests: list[str] = []
        self._repositories = repositories
        self._revisions = revisions

    @property
    def endpoint(self) -> str:
        return self.address

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._log])
        name = "/{owner}/{name}"
        app.router.add_get("/api/datasets" + name, self._info)
        app.router.add_get("/api/datasets" + name + "/revision/{revision}", self._info)
        app.router.add_get("/api/datasets" + name + "/tree/{revision}{path:(/.*)?}", self._tree)
        app.router.add_post("/api/datasets" + name + "/paths-info/{revision}", self._paths_info)
        app.router.add_get("/datasets" + name + "/resolve/{revision}/{path:.*}", self._file)
        return app

    @web.middleware
    async def _log(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        return await handler(request)

    def _folder(self, request: web.Request) -> Path:
        repository = f"{request.match_info['owner']}/{request.match_info['name']}"
        if repository not in self._repositories:
            raise web.HTTPNotFound(headers={"X-Error-Code": "RepoNotFound"})
        if request.match_info.get("revision", "main") not in self._revisions:
            raise web.HTTPNotFound(headers={"X-Error-Code": "RevisionNotFound"})
        return self._repositories[repository]

    async def _info(self, request: web.Request) -> web.Response:
        folder = self._folder(request)
        files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
        return web.json_response(
            {
                "id": f"{request.match_info['owner']}/{request.match_info['name']}",
                "sha": COMMIT,
                "private": False,
                "disabled": False,
                "gated": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "lastModified": "2026-01-01T00:00:00.000Z",
                "siblings": [{"rfilename": file} for file in files],
            }
        )

    async def _tree(self, request: web.Request) -> web.Response:
        folder = self._folder(request)
        below = folder / request.match_info["path"].strip("/")
        if not below.is_dir():
            raise web.HTTPNotFound(headers={"X-Error-Code": "EntryNotFound"})
        recursive = request.query.get("recursive", "").lower() in ("1", "true")
        entries = sorted(below.rglob("*") if recursive else below.iterdir())
        return web.json_response([_entry(entry, folder) for entry in entries])

    async def _paths_info(self, request: web.Request) -> web.Response:
        folder = self._folder(request)
        sent = await request.json() if request.content_type == "application/json" else await request.post()
        paths = sent["paths"] if isinstance(sent["paths"], list) else sent.getall("paths")
        return web.json_response([_entry(folder / path, folder) for path in paths if (folder / path).exists()])

    async def _file(self, request: web.Request) -> web.StreamResponse:
        file = self._folder(request) / request.match_info["path"]
        if not file.is_file():
            raise web.HTTPNotFound(headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{_oid(file)}"'}
        return web.FileResponse(file, headers=headers)


def _entry(path: Path, folder: Path) -> dict[str, Any]:
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        return {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}
    return {"type": "file", "oid": _oid(path), "size": path.stat().st_size, "path": name}


def _oid(file: Path) -> str:
    return hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
