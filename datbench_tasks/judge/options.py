"""Command-line options of judging, shared by every command that asks a judge."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from datbench_tasks.errors import UsageError
from datbench_tasks.judge.accounting import Prices
from datbench_tasks.judge.concurrency import Limits
from datbench_tasks.judge.endpoints import TOKEN_LIMITS, Endpoints, read_key
from datbench_tasks.judge.plan import Selection, Wording
from datbench_tasks.judge.post_pass import Settings, safe_tag
from datbench_tasks.judge.requests import MAX_ANSWER_CHARS

_OWN_FIELDS = ("model", "messages", "stream", "n")

Number = TypeVar("Number", int, float)


def add_server_arguments(parser: argparse.ArgumentParser, *, short: bool = False) -> None:
    """Which served model to ask, and how hard; ``short`` also accepts ``--model`` and ``--base-url``."""
    group = parser.add_argument_group("the judge's server")
    model, base_url = (("--model",), ("--base-url",)) if short else ((), ())
    group.add_argument("--judge-model", *model, metavar="NAME", help="the model's name as its server knows it")
    group.add_argument(
        "--judge-base-url",
        *base_url,
        metavar="URL",
        action="append",
        help="an OpenAI-compatible server; give it several times for replicas of one model",
    )
    group.add_argument("--api-key-env", metavar="VARIABLE", help="environment variable with the key (default: no key)")
    group.add_argument("--extra-body", metavar="JSON", default="{}", help="more body fields; null removes one of ours")
    group.add_argument(
        "--max-tokens", type=_positive_int, default=16, help="token limit of an answer (default %(default)s)"
    )
    group.add_argument(
        "--concurrency",
        type=_concurrency,
        default=None,
        metavar="N|auto",
        help="requests in flight over all servers (default auto: grows until a server objects)",
    )
    group.add_argument("--max-concurrency", type=_positive_int, default=128, help="bound of auto (default 128)")
    group.add_argument("--rpm", type=_positive, help="requests a minute at most")
    group.add_argument("--tpm", type=_positive, help="prompt tokens a minute at most, estimated")
    group.add_argument("--timeout", type=_positive, default=120.0, help="seconds for one attempt (default 120)")
    group.add_argument("--retries", type=_count, default=5, help="attempts after the first (default 5)")
    group.add_argument("--price-in", type=_not_negative, metavar="MONEY", help="price of a million prompt tokens")
    group.add_argument("--price-out", type=_not_negative, metavar="MONEY", help="price of a million answer tokens")


def add_local_arguments(parser: argparse.ArgumentParser) -> None:
    """A judge that runs on this machine."""
    group = parser.add_argument_group("a local judge in place of a server (needs the extra 'local')")
    group.add_argument("--local-model", metavar="MODEL", help="a folder, a hub id or a .gguf file, run by transformers")
    group.add_argument("--gguf-file", metavar="NAME", help="the GGUF file in the folder or repository")
    group.add_argument("--local-batch-size", type=_positive_int, default=8, help="prompts at once (default 8)")
    group.add_argument("--local-generate", action="store_true", help="let it write its verdict instead of weighing")


def add_pass_arguments(parser: argparse.ArgumentParser) -> None:
    """What is asked, and what happens to the verdicts."""
    group = parser.add_argument_group("the pass")
    group.add_argument("--tag", help="name of the pass, a folder below RUN/judge (default: made of the judge's name)")
    group.add_argument("--journal", type=Path, metavar="FILE", help="a journal elsewhere, such as one that runs share")
    group.add_argument(
        "--max-answer-chars",
        type=_positive_int,
        default=MAX_ANSWER_CHARS,
        help=f"longer candidate answers lose their middle (default {MAX_ANSWER_CHARS:,})",
    )
    group.add_argument("--system", metavar="TEXT", help="a system message (default: none)")
    group.add_argument(
        "--dry-run", action="store_true", help="print requests, journal hits, tokens, cost; send nothing"
    )
    group.add_argument("--refresh", action="store_true", help="ask again what is answered")
    group.add_argument("--retry-unparsed", action="store_true", help="ask again what could not be read")
    group.add_argument("--strict", action="store_true", help="write no judged run unless every verdict is there")
    group.add_argument(
        "--allow-missing", action="store_true", help="exit status 0 even if verdicts are missing or unparsed"
    )
    group.add_argument("--date", help="of the run, where it holds several")
    group.add_argument("--run-model", metavar="NAME", help="the model whose run it is, where it holds several")


def endpoints_from(args: argparse.Namespace) -> Endpoints:
    """The servers that the options name.

    Raises:
        UsageError: no model, no address, no key in the variable, or extra fields that cannot be.
    """
    if not args.judge_model or not args.judge_base_url:
        raise UsageError(
            "give --judge-model NAME and --judge-base-url URL (or --local-model MODEL where there is no server)"
        )
    key = read_key(args.api_key_env)
    return Endpoints(args.judge_model, args.judge_base_url, key, extra_body(args.extra_body), args.max_tokens)


def limits_from(args: argparse.Namespace) -> Limits:
    """The bounds that the options name."""
    return Limits(args.concurrency, args.max_concurrency, args.rpm, args.tpm, args.timeout, args.retries)


def prices_from(args: argparse.Namespace) -> Prices:
    """The prices that the options name."""
    return Prices(args.price_in, args.price_out)


def settings_from(args: argparse.Namespace, judge_name: str) -> Settings:
    """What holds for the pass whoever judges."""
    return Settings(
        tag=args.tag or safe_tag(judge_name),
        journal=args.journal,
        wording=Wording(args.max_answer_chars, args.system),
        selection=Selection(args.refresh, args.retry_unparsed),
        prices=prices_from(args),
        strict=args.strict,
    )


def extra_body(text: str) -> dict[str, Any]:
    """The JSON object of ``--extra-body``.

    Raises:
        UsageError: no JSON object, or a field that is ours to set.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UsageError(f"--extra-body: not JSON: {fault}") from fault
    if not isinstance(fields, dict):
        raise UsageError('--extra-body: must be a JSON object, such as {"seed": 1}')
    taken = [name for name in _OWN_FIELDS if name in fields]
    if taken:
        raise UsageError(f"--extra-body: {', '.join(taken)} cannot be set here")
    for name in TOKEN_LIMITS:
        limit = fields.get(name, 1)
        if limit is not None and (type(limit) is not int or limit < 1):
            raise UsageError(f"--extra-body: {name} must be a positive whole number or null")
    return fields


def _concurrency(text: str) -> int | None:
    return None if text == "auto" else _positive_int(text)


def _number(kind: Callable[[str], Number], accepts: Callable[[Number], bool], words: str) -> Callable[[str], Number]:
    def read(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not accepts(value):
            raise argparse.ArgumentTypeError(f"{text!r} is not {words}")
        return value

    return read


_positive_int = _number(int, lambda value: value > 0, "a positive whole number")
_count = _number(int, lambda value: value >= 0, "a whole number from 0 on")
_positive = _number(float, lambda value: 0 < value < math.inf, "a positive number")
_not_negative = _number(float, lambda value: 0 <= value < math.inf, "a number from 0 on")
