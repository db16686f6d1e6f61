"""A stand-in for the hub's upload side on 127.0.0.1: it keeps what is committed."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class UploadHub:
    """A context manager. ``files`` holds committed contents by "repository/path", ``created`` the requests for
    repositories; with ``refuse`` every request is answered 403."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.files: dict[str, bytes] = {}
        self.created: list[dict[str, Any]] = []
        self.refuse = refuse
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> UploadHub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        if path == "/api/repos/create":
            asked = json.loads(body)
            self.created.append(asked)
            return {"url": f"{self.endpoint}/datasets/{asked.get('organization')}/{asked['name']}"}
        repository = "/".join(path.split("/")[3:5])
        if "/preupload/" in path:
            sent = json.loads(body)["files"]
            return {"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in sent]}
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                self.files[f"{repository}/{line['value']['path']}"] = base64.b64decode(line["value"]["content"])
        return {"commitUrl": f"{self.endpoint}/datasets/{repository}/commit/{'0' * 40}", "commitOid": "0" * 40}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                content = {"error": "no"} if hub.refuse else hub.answer(self.path.partition("?")[0], body)
                answer = json.dumps(content).encode()
                self.send_response(403 if hub.refuse else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
