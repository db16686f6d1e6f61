"""Addresses of chat servers and the key that opens them: how base URLs are read, shown and kept secret."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from datbench_tasks.errors import UsageError

SHOWN_CHARACTERS = 400

TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
"""Body fields that bound the length of an answer."""

SHORTEST_SECRET = 8
"""A shorter key is a placeholder such as ``EMPTY`` or ``x``: to mask it would blot out words, verdicts among them."""

_COMPLETIONS = "/chat/completions"
_VERSION = re.compile(r"/v\d{1,3}\w{0,10}(?=/|$)")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


@dataclass(frozen=True)
class Endpoints:
    """Replicas of one served model.

    Attributes:
        model: the model's name, as the server knows it.
        base_urls: one or several; each with or without a trailing slash, ``/v1`` or ``/chat/completions``.
        key: the API key; None sends none. Never shown, logged or stored.
        extra_body: further body fields; null takes a field of ours away. ``max_completion_tokens`` replaces
            ``max_tokens``.
        max_tokens: limit of the answer.

    Raises:
        UsageError: a base URL that is none, or whose proxy cannot be used.
    """

    model: str
    base_urls: Sequence[str]
    key: str | None = field(default=None, repr=False)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 16

    def __post_init__(self) -> None:
        for url in self.base_urls:
            proxy_for(completion_urls(url)[0])

    @property
    def parameters(self) -> dict[str, Any]:
        """All that can change an answer, as sent in the body and hashed into the journal key."""
        return body_parameters(self.max_tokens, self.extra_body)


def body_parameters(max_tokens: int, extra_body: Mapping[str, Any]) -> dict[str, Any]:
    """Temperature, token limit and the extra fields; fields set to None are left out."""
    limit = {} if extra_body.get("max_completion_tokens") else {"max_tokens": max_tokens}
    fields = {"temperature": 0, **limit, **extra_body}
    return {name: value for name, value in fields.items() if value is not None}


def token_limit(parameters: Mapping[str, Any]) -> int | None:
    """The token limit of an answer; None if there is none."""
    return next((parameters[name] for name in TOKEN_LIMITS if name in parameters), None)


def with_raised_limit(parameters: Mapping[str, Any], at_least: int) -> dict[str, Any]:
    """The parameters for the one repeat: the token limit four times as large, ``at_least`` at the least."""
    raised = dict(parameters)
    for name in TOKEN_LIMITS:
        if name in raised:
            raised[name] = max(at_least, 4 * raised[name])
    return raised


def read_key(variable: str | None) -> str | None:
    """The key in an environment variable; None if no variable is named.

    Raises:
        UsageError: the variable is not set, or holds what no HTTP header can hold.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        # The name may be the key itself, given by mistake.
        named = f"{variable}: this environment variable is not set" if _VARIABLE.fullmatch(variable) else "no name"
        raise UsageError(f"--api-key-env: {named}; give the name of the variable that holds the key, not the key")
    if not key.isascii() or not key.isprintable():
        raise UsageError(f"--api-key-env {variable}: its value holds characters that a key cannot have")
    return key


def completion_urls(base_url: str) -> list[str]:
    """Where chat completions may be under a base URL, the likeliest first.

    >>> completion_urls("http://127.0.0.1:8000/")
    ['http://127.0.0.1:8000/v1/chat/completions', 'http://127.0.0.1:8000/chat/completions']
    >>> completion_urls("https://x.azure.com/openai/deployments/m?api-version=1")
    ['https://x.azure.com/openai/deployments/m/chat/completions?api-version=1']

    Raises:
        UsageError: not an http(s) URL, or one that carries a user name or password.
    """
    try:
        parts = urlsplit(base_url.strip())
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        (parts.hostname or "").encode("idna")  # as the resolver will, which would raise
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("--judge-base-url: not an http:// or https:// address with a host")
    if parts.username is not None or parts.password is not None:
        raise UsageError("--judge-base-url: holds a user name or password; name its variable with --api-key-env")
    path = parts.path.rstrip("/")
    direct, below_version = path + _COMPLETIONS, path + "/v1" + _COMPLETIONS
    versions = list(_VERSION.finditer(path))
    if path.endswith(_COMPLETIONS):
        paths = [path]
    elif "/deployments/" in path or (versions and versions[-1].end() == len(path)):
        paths = [direct]
    else:
        paths = [direct, below_version] if versions else [below_version, direct]
    return [urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")) for path in paths]


def shown(url: str) -> str:
    """A URL without its query, for people."""
    return urlunsplit((*urlsplit(url)[:3], "", ""))


def headers(url: str, key: str | None) -> dict[str, str]:
    """Request headers. Azure wants the key under its own name."""
    content = {"Content-Type": "application/json"}
    if key is None:
        return content
    own = {"api-key": key} if (urlsplit(url).hostname or "").endswith(".azure.com") else {}
    return {**content, **own, "Authorization": f"Bearer {key}"}


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), else None.

    Raises:
        UsageError: it is no HTTP proxy.
    """
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if not proxy or proxy_bypass(parts.netloc):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise UsageError(
            f"{parts.scheme}_proxy: only HTTP proxies can be used; name an HTTP proxy, or {parts.hostname} in no_proxy"
        )
    return proxy


def mask(text: str, key: str | None) -> str:
    """The text with the key, plain or encoded, replaced by ``***``."""
    if key is None or len(key) < SHORTEST_SECRET:
        return text
    encoded = base64.b64encode(key.encode()).decode()
    for form in (key, quote(key, safe=""), json.dumps(key)[1:-1], encoded, encoded.rstrip("=")):
        text = text.replace(form, "***")
    return text


def quotable(text: str, key: str | None) -> str:
    """A server's words fit for one line of ours: key masked, control characters blanked, cut."""
    line = _CONTROL.sub(" ", mask(text, key)).strip()
    return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + " ..."
