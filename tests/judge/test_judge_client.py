"""The HTTP client against a scripted server: every fault, retries, limits, replicas, secrets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence

import pytest
from support.chat_server import Call, ChatServer, Reply

from datbench_tasks.errors import RefusedError, UsageError
from datbench_tasks.judge.accounting import Totals
from datbench_tasks.judge.client import ask_all
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import Endpoints
from datbench_tasks.judge.journal import Journal
from datbench_tasks.judge.requests import JudgeIdentity, JudgeRequest

QUICK = Limits(first_backoff=0.001)
KEY = "sk-very-secret-0123456789"


def make_requests(count: int) -> list[JudgeRequest]:
    identity = JudgeIdentity("judge", "chat", {})
    chats = [[{"role": "user", "content": f"question {number}"}] for number in range(count)]
    return [JudgeRequest(identity.key(chat), chat) for chat in chats]


def ask(
    journal: Journal,
    urls: Sequence[str],
    count: int = 20,
    limits: Limits = QUICK,
    key: str | None = None,
    **more: object,
) -> Totals:
    return ask_all(make_requests(count), Endpoints("judge", urls, key, **more), journal, limits)


def failures(journal: Journal, count: int) -> list[str]:
    return [journal.get(request.key).failure for request in make_requests(count)]


HICCUPS: dict[str, list[Reply]] = {
    "429 with Retry-After": [Reply(status=429, headers={"Retry-After": "0.05"})],
    "429 without Retry-After": [Reply(status=429)],
    "503": [Reply(status=503)] * 3,
    "burst of 500": [Reply(status=500)] * 4,
    "502 with an HTML page": [Reply(status=502, body=b"<html>Bad Gateway</html>")],
    "408 and 409": [Reply(status=408), Reply(status=409)],
    "connection reset": [Reply(fault="reset")] * 2,
    "half a body": [Reply(fault="half")] * 2,
    "wrong JSON": [Reply(body=b'{"choices": [')],
    "deeply nested JSON": [Reply(body=b"[" * 200_000)],
    "HTML with status 200": [Reply(body=b"<!doctype html><h1>Welcome</h1>")],
    "not UTF-8": [Reply(body=b"\xff\xfe\x00")],
    "empty body": [Reply(body=b"")],
    "JSON null": [Reply(body=b"null")],
    "200 with an error object": [Reply(body=b'{"error": {"message": "upstream", "code": 502}}')],
    "200 without choices": [Reply(body=b'{"choices": []}')],
    "said to be gzip, and is not": [Reply(headers={"Content-Encoding": "gzip"})],
    "in an encoding that nobody asked for": [Reply(headers={"Content-Encoding": "br"})],
    "a header beyond all bounds": [Reply(headers={"X-Padding": "x" * 100_000})],
}


@pytest.mark.parametrize("name", HICCUPS)
@pytest.mark.parametrize("calm_first", [False, True], ids=["at the probe", "in the flood"])
def test_hiccups_are_retried_until_every_answer_is_there(journal, name, calm_first):
    script = [Reply()] * (5 * calm_first) + HICCUPS[name] + [Reply()]
    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url])
    assert len(journal) == totals.answered == 20 and totals.failed == 0
    assert totals.retries == len(HICCUPS[name])
    assert len(server.calls) == totals.requests == 20 + len(HICCUPS[name])


def test_a_server_that_never_answers_is_a_timeout_not_a_hang(journal):
    def script(call: Call) -> Reply:
        return Reply(fault="hang" if call.text == "question 3" else None)

    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url], limits=Limits(timeout=0.3, retries=1, first_backoff=0.001))
    assert failures(journal, 20) == [""] * 3 + ["timeout"] + [""] * 16
    assert totals.failed == 1


def test_one_bad_request_does_not_stop_the_others(journal):
    with ChatServer(lambda call: Reply(status=500 if call.text == "question 7" else 200)) as server:
        ask(journal, [server.base_url], limits=Limits(retries=2, first_backoff=0.001))
    assert failures(journal, 20)[7] == "HTTP 500" and len(journal) == 19
    assert sum(call.text == "question 7" for call in server.calls) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 422])
def test_refusals_stop_at_once_with_address_status_and_words(journal, status):
    with ChatServer(Reply("no such model: judge", status=status)) as server:
        with pytest.raises(RefusedError) as caught:
            ask(journal, [server.base_url])
        assert server.base_url in str(caught.value) and f"HTTP {status}" in str(caught.value)
    assert "no such model: judge" in str(caught.value)
    assert len(server.calls) == 1


UNFIT = {
    "OpenAI": (400, '{"error": {"message": "...", "code": "context_length_exceeded"}}', "prompt too long"),
    "vLLM": (
        400,
        '{"message": "This model\'s maximum context length is 4096 tokens."}',
        "prompt too long",
    ),
    "SGLang": (400, '{"message": "longer than the model\'s context length (4096 tokens)"}', "prompt too long"),
    "llama.cpp": (400, '{"error": {"message": "exceeds the available context size"}}', "prompt too long"),
    "TGI": (422, '{"error": "`inputs` must have less than 4095 tokens. Given: 5000"}', "prompt too long"),
    "nginx": (413, "<html>413 Request Entity Too Large</html>", "prompt too long"),
    "Azure": (400, '{"error": {"code": "content_filter", "message": "..."}}', "content filter"),
}


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("unfit", [{0}, {7}, set(range(20))], ids=["the first", "one", "all"])
def test_a_prompt_that_the_server_will_not_take_does_not_stop_the_others(journal, name, unfit):
    status, body, reason = UNFIT[name]

    def script(call: Call) -> Reply:
        return Reply(status=status, body=body.encode()) if int(call.text.split()[1]) in unfit else Reply()

    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url])
        assert len(server.calls) == 20
    expected = [f"HTTP {status}, {reason}" if number in unfit else "" for number in range(20)]
    assert failures(journal, 20) == expected
    assert (totals.answered, totals.failed) == (20 - len(unfit), len(unfit))


def test_a_refusal_in_the_flood_keeps_what_is_in_flight(journal):
    def script(call: Call) -> Reply:
        return Reply(status=403, delay=0.05) if call.number == 8 else Reply(delay=0.2)

    with ChatServer(script) as server, pytest.raises(RefusedError):
        ask(journal, [server.base_url], 200, Limits(concurrency=16))
    assert len(journal) == len(server.calls) - 1 < 60


def test_a_redirect_is_not_followed(journal):
    reply = Reply(status=307, headers={"Location": "http://127.0.0.1:9/steal"})
    with ChatServer(reply) as server, pytest.raises(RefusedError, match="HTTP 307") as caught:
        ask(journal, [server.base_url], key=KEY)
    assert "redirects to: http://127.0.0.1:9/steal" in str(caught.value)


def test_quota_used_up_is_no_reason_to_go_on_asking(journal):
    reply = Reply(status=429, body=b'{"error": {"code": "insufficient_quota", "message": "check your plan"}}')
    with ChatServer(reply) as server, pytest.raises(RefusedError, match="check your plan"):
        ask(journal, [server.base_url])
    assert len(server.calls) == 1


def test_nobody_listening_is_said_after_the_retries(journal):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(RefusedError, match="cannot connect"):
            ask(journal, [address], limits=Limits(retries=2, first_backoff=0.001))
    assert len(journal) == 0


def test_a_server_that_breaks_for_good_ends_the_pass(journal):
    broken = ChatServer(lambda call: Reply(status=500 if call.number > 30 else 200))
    with broken as server, pytest.raises(RefusedError, match=r"HTTP 500.*ask again when the server is well"):
        ask(journal, [server.base_url], 2_000, Limits(retries=1, first_backoff=0.001))
    assert len(journal) == 31 and len(server.calls) < 500


def test_a_very_long_pause_ends_the_pass(journal):
    reply = Reply(status=429, headers={"Retry-After": "7200"})
    with ChatServer(reply) as server, pytest.raises(RefusedError, match="asks to wait 7,200 s"):
        ask(journal, [server.base_url])


def test_a_very_long_pause_after_an_answer_costs_no_answer(journal):
    spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "24h"}

    def script(call: Call) -> Reply:
        return Reply(headers=spent) if call.number < 5 else Reply(status=429, headers={"Retry-After": "86400"})

    with ChatServer(script) as server, pytest.raises(RefusedError, match="asks to wait 86,400 s"):
        ask(journal, [server.base_url])
    assert len(journal) == 5


def test_a_pause_of_no_length_is_no_reason_to_ask_at_once(journal):
    arrivals: list[float] = []

    def script(call: Call) -> Reply:
        arrivals.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "0"}) if call.number == 0 else Reply()

    with ChatServer(script) as server:
        ask(journal, [server.base_url], 2, Limits(first_backoff=0.3))
    assert arrivals[1] - arrivals[0] >= 0.3


def test_retry_after_is_waited_for(journal):
    arrivals: list[float] = []

    def script(call: Call) -> Reply:
        arrivals.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "0.4"}) if call.number == 0 else Reply()

    with ChatServer(script) as server:
        ask(journal, [server.base_url], 2)
    assert arrivals[1] - arrivals[0] >= 0.4


def test_exhausted_rate_headers_are_waited_for(journal):
    arrivals: list[float] = []

    def script(call: Call) -> Reply:
        arrivals.append(time.monotonic())
        spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
        return Reply(headers=spent if call.number == 0 else {})

    with ChatServer(script) as server:
        ask(journal, [server.base_url], 2)
    assert arrivals[1] - arrivals[0] >= 0.4


def test_rpm_spaces_requests(journal):
    with ChatServer() as server:
        started = time.monotonic()
        ask(journal, [server.base_url], 5, Limits(rpm=600))
        assert time.monotonic() - started >= 0.4


def test_rpm_holds_after_a_pause_too(journal):
    arrivals: list[float] = []

    def script(call: Call) -> Reply:
        arrivals.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "1"}) if call.number == 3 else Reply()

    with ChatServer(script) as server:
        ask(journal, [server.base_url], 24, Limits(concurrency=24, rpm=1200))
    after = arrivals[4:]
    assert after[-1] - after[0] >= 0.05 * len(after) / 2, "the time of the pause is not made up for"


def test_one_probe_before_the_flood_and_never_more_than_asked_for(journal):
    arrivals: list[int] = []
    release = threading.Event()

    def script(call: Call) -> Reply:
        arrivals.append(call.number)
        return Reply(delay=0.3 if call.number == 0 else 0.02)

    with ChatServer(script) as server:
        watcher = threading.Timer(0.15, lambda: (arrivals.append(-1), release.set()))
        watcher.start()
        ask(journal, [server.base_url], 60, Limits(concurrency=6))
        assert release.wait(10)
    assert arrivals[:2] == [0, -1], "nothing arrives while the probe is out"
    assert server.peak_in_flight == 6


def test_auto_concurrency_grows(journal):
    with ChatServer(Reply(delay=0.03)) as server:
        ask(journal, [server.base_url], 400, Limits(max_concurrency=40))
    assert 20 < server.peak_in_flight <= 40


def test_auto_concurrency_backs_off_from_a_server_with_few_places(journal):
    busy = threading.Lock()
    places = [0]
    rejected = [0]

    def script(call: Call) -> Reply:
        with busy:
            if places[0] >= 10:
                rejected[0] += 1
                return Reply(status=429)
            places[0] += 1
        threading.Timer(0.02, leave).start()
        return Reply(delay=0.02)

    def leave() -> None:
        with busy:
            places[0] -= 1

    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url], 300, Limits(max_concurrency=64, first_backoff=0.01))
    assert totals.answered == 300
    assert 0 < rejected[0] < 150


@pytest.mark.parametrize(
    ("replies", "text", "calls"),
    [
        ([Reply("", finish_reason="length"), Reply("answer: true")], "answer: true", 2),
        ([Reply(None, reasoning="hm", finish_reason="length"), Reply("true")], "true", 2),
        ([Reply("<think>hm", finish_reason="length"), Reply("false")], "false", 2),
        ([Reply("", finish_reason="length"), Reply("", finish_reason="length")], "", 2),
        ([Reply("", finish_reason="stop")], "", 1),
        ([Reply(None, reasoning="answer: true")], "", 1),
        ([Reply("Reason: x", finish_reason="length")], "Reason: x", 1),
    ],
)
def test_an_empty_answer_at_the_limit_is_asked_once_more(journal, replies, text, calls):
    with ChatServer(replies) as server:
        totals = ask(journal, [server.base_url], 1)
    assert journal.get(make_requests(1)[0].key).raw == text
    assert [call.body["max_tokens"] for call in server.calls] == [16, 1024][:calls]
    assert totals.prompt_tokens == calls * (len("question 0") // 4)
    assert totals.requests == journal.get(make_requests(1)[0].key).requests == calls


def test_a_repeat_that_the_server_refuses_leaves_the_empty_answer_and_the_pass_goes_on(journal):
    def script(call: Call) -> Reply:
        if call.body["max_tokens"] > 16:
            return Reply("max_tokens is too large", status=400)
        return Reply("", finish_reason="length") if call.text == "question 3" else Reply()

    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url])
    assert totals.answered == 20 and journal.get(make_requests(20)[3].key).raw == ""
    assert totals.requests == len(server.calls) == 21


def test_a_repeat_that_is_too_long_for_the_server_leaves_the_empty_answer(journal):
    def script(call: Call) -> Reply:
        if call.body["max_tokens"] > 16:
            return Reply("maximum context length is 1024 tokens", status=400)
        return Reply("", finish_reason="length")

    with ChatServer(script) as server:
        totals = ask(journal, [server.base_url], 2)
    assert (totals.answered, totals.failed) == (2, 0)


def test_body_holds_model_messages_and_parameters_only(journal):
    with ChatServer() as server:
        ask(journal, [server.base_url], 1, extra_body={"temperature": None, "top_k": 1}, max_tokens=5)
    call = server.calls[0]
    assert call.body == {
        "model": "judge", "messages": [{"role": "user", "content": "question 0"}], "max_tokens": 5, "top_k": 1,
    }  # fmt: skip
    assert "Authorization" not in call.headers


def test_requests_leave_in_the_order_given(journal):
    with ChatServer() as server:
        ask(journal, [server.base_url], 50, Limits(concurrency=1))
    assert [call.text for call in server.calls] == [f"question {number}" for number in range(50)]


def test_replicas_share_the_load(journal):
    with ChatServer(Reply(delay=0.02)) as one, ChatServer(Reply(delay=0.02)) as two:
        ask(journal, [one.base_url, two.base_url], 200, Limits(concurrency=10))
    assert len(one.calls) + len(two.calls) == 200
    assert min(len(one.calls), len(two.calls)) > 60


def test_a_replica_that_dies_is_set_aside_and_nothing_is_lost(journal):
    def dying(call: Call) -> Reply:
        return Reply(fault="reset") if call.number >= 20 else Reply(delay=0.01)

    with ChatServer(dying) as one, ChatServer(Reply(delay=0.01)) as two:
        totals = ask(journal, [one.base_url, two.base_url], 300, Limits(concurrency=10, first_backoff=0.01))
    assert totals.answered == 300
    assert len(one.calls) < 60


def test_a_replica_that_comes_back_is_used_again(journal):
    def stumbling(call: Call) -> Reply:
        return Reply(fault="reset") if 5 <= call.number < 9 else Reply(delay=0.02)

    with ChatServer(stumbling) as one, ChatServer(Reply(delay=0.05)) as two:
        ask(journal, [one.base_url, two.base_url], 500, Limits(concurrency=8, first_backoff=0.01))
    assert len(journal) == 500
    assert len(one.calls) > 30


def test_a_base_path_without_version_is_found(journal):
    with ChatServer(paths="/llm/chat/completions") as server:
        totals = ask(journal, [server.base_url.replace("/v1", "/llm")], 5, Limits(retries=0))
    assert totals.answered == 5 and {call.path for call in server.calls} == {"/llm/chat/completions"}


@pytest.mark.parametrize(
    "script",
    [
        lambda call: Reply(f"bad key {call.headers['Authorization']}", status=401),
        lambda call: Reply(status=400, body=call.headers["Authorization"].encode() + b" is wrong"),
        lambda call: Reply(status=500, body=b"header: " + call.headers["Authorization"].encode()),
        lambda call: Reply(body=call.headers["Authorization"].encode()),
    ],
    ids=["401", "400 in plain text", "500", "200 in plain text"],
)
def test_a_key_that_the_server_echoes_is_masked(journal, script: Callable[[Call], Reply]):
    with ChatServer(script) as server, pytest.raises(RefusedError) as caught:
        ask(journal, [server.base_url], 30, Limits(retries=0), KEY)
    assert server.calls[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "***" in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value.__cause__) + journal.path.read_text()


def test_a_key_in_an_answer_is_masked(journal):
    with ChatServer(Reply(f"answer: true, {KEY}", finish_reason=f"stop: {KEY}")) as server:
        ask(journal, [server.base_url], 2, key=KEY)
    assert KEY not in journal.path.read_text() and "answer: true, ***" in journal.path.read_text()


@pytest.mark.parametrize("key", ["a", "true", "EMPTY"])
def test_a_placeholder_for_a_key_blots_out_no_verdict(journal, key):
    with ChatServer(Reply("answer: true")) as server:
        ask(journal, [server.base_url], 1, key=key)
    assert journal.get(make_requests(1)[0].key).raw == "answer: true"


def test_a_proxy_of_the_environment_is_used(journal, monkeypatch):
    monkeypatch.delenv("no_proxy", raising=False)
    with ChatServer() as proxy:
        for address in (proxy.address, proxy.address.removeprefix("http://")):
            monkeypatch.setenv("http_proxy", address)
            ask(journal, ["http://judge.invalid/v1"], 3)
        assert {call.headers["Host"] for call in proxy.calls} == {"judge.invalid"}
    assert len(journal) == 3


def test_retries_are_shown_with_their_reason_before_there_is_any_answer(journal):
    shown: list[tuple[int, str]] = []

    def show(totals: Totals, in_flight: int) -> None:
        shown.append((totals.retries, totals.last_fault))

    with ChatServer([Reply(status=502), Reply(fault="reset"), Reply()]) as server:
        ask_all(make_requests(1), Endpoints("judge", [server.base_url]), journal, QUICK, show)
    assert shown[:2] == [(1, "HTTP 502"), (2, "connection broken (ServerDisconnectedError)")]


@pytest.mark.parametrize("host", ["a..b", "x" * 70, "exa mple", "127.0.0.1.", "judge.invalid", "*"])
def test_a_host_that_cannot_be_is_said(journal, host):
    with pytest.raises((RefusedError, UsageError)):
        ask(journal, [f"http://{host}:9/v1"], limits=Limits(retries=0))


def test_requests_are_read_as_they_are_sent(journal):
    read = [0]
    lead: list[int] = []

    def source():
        for request in make_requests(300):
            read[0] += 1
            yield request

    def show(totals: Totals, in_flight: int) -> None:
        lead.append(read[0] - totals.answered)

    with ChatServer() as server:
        ask_all(source(), Endpoints("judge", [server.base_url]), journal, Limits(concurrency=10), show)
    assert max(lead) <= 10
