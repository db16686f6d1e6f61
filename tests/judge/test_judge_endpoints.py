"""Base URLs in every spelling, and keys that never show."""

from __future__ import annotations

import base64

import pytest

from datbench_tasks.errors import UsageError
from datbench_tasks.judge.endpoints import (
    Endpoints,
    body_parameters,
    completion_urls,
    headers,
    mask,
    proxy_for,
    quotable,
    read_key,
    shown,
    with_raised_limit,
)

KEY = 'sk-mark/ed+"key'


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/ "])
def test_every_spelling_reaches_the_same_address(path):
    assert completion_urls("http://h:8000" + path)[0] == "http://h:8000/v1/chat/completions"


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://x.azure.com/openai/deployments/d?api-version=2024-10-21",
         "https://x.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"),
        ("https://x.azure.com/openai/v1/", "https://x.azure.com/openai/v1/chat/completions"),
        ("https://g.com/v1beta/openai", "https://g.com/v1beta/openai/chat/completions"),
        ("https://proxy.org/llm", "https://proxy.org/llm/v1/chat/completions"),
        ("https://proxy.org/qwen-v2/serve", "https://proxy.org/qwen-v2/serve/v1/chat/completions"),
        ("https://gateway.org/v1/me/openai", "https://gateway.org/v1/me/openai/chat/completions"),
    ],
)  # fmt: skip
def test_base_paths_of_vendors(base, url):
    assert completion_urls(base)[0] == url


@pytest.mark.parametrize(
    "base", ["", "h:8000", "ftp://h", "http://", "http://[::1", "file:///etc/passwd", "http://h:99999"]
)
def test_what_is_no_http_address_is_refused(base):
    with pytest.raises(UsageError, match="not an http"):
        completion_urls(base)


def test_credentials_in_the_address_are_refused_without_being_repeated():
    with pytest.raises(UsageError, match="--api-key-env") as caught:
        completion_urls("http://user:hunter2@h/v1")
    assert "hunter2" not in str(caught.value)


def test_the_query_is_not_shown():
    assert shown("https://h/v1/chat/completions?key=secret") == "https://h/v1/chat/completions"


@pytest.mark.parametrize(
    "form", [KEY, "sk-mark%2Fed%2B%22key", 'sk-mark/ed+\\"key', base64.b64encode(KEY.encode()).decode()]
)
def test_key_is_masked_in_every_form(form):
    assert form not in mask(f"your key {form} is wrong", KEY)


def test_words_of_a_server_fit_on_one_line():
    words = quotable("a\x1b[31m\r\nb\u202e" + "x" * 10_000, None)
    assert words.startswith("a [31m b xxx") and len(words) < 500 and words.isprintable()


def test_key_is_not_in_the_repr():
    assert KEY not in repr(Endpoints("m", ["http://h"], KEY))


def test_headers_of_azure_and_of_others():
    assert headers("https://h/v1", KEY)["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in headers("https://h/v1", None)
    assert headers("https://x.azure.com/openai/v1", KEY)["api-key"] == KEY


@pytest.mark.parametrize("value", [None, "", "  ", "two\nlines", "schlüssel"])
def test_variable_without_a_usable_key_is_named(monkeypatch, value):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(UsageError, match="JUDGE_KEY"):
        read_key("JUDGE_KEY")


def test_proxy_of_the_environment_unless_excepted(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert proxy_for("http://judge.example/v1") == "http://proxy:3128"
    assert proxy_for("http://127.0.0.1:8000/v1") is None


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "ftp://proxy"])
def test_a_proxy_of_another_kind_is_refused_at_once(monkeypatch, proxy):
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(UsageError, match=r"https_proxy.*judge\.example in no_proxy"):
        Endpoints("m", ["https://judge.example/v1"])


def test_extra_fields_override_and_remove_ours():
    assert body_parameters(16, {"temperature": None, "seed": 1}) == {"max_tokens": 16, "seed": 1}
    assert body_parameters(16, {"max_completion_tokens": 64}) == {"temperature": 0, "max_completion_tokens": 64}


@pytest.mark.parametrize(
    ("given", "raised"),
    [
        ({"max_tokens": 16}, {"max_tokens": 1024}),
        ({"max_tokens": 500}, {"max_tokens": 2000}),
        ({"max_completion_tokens": 16}, {"max_completion_tokens": 1024}),
        ({"seed": 1}, {"seed": 1}),
    ],
)
def test_limit_of_the_repeat(given, raised):
    assert with_raised_limit(given, 1024) == raised
