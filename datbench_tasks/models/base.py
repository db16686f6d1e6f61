"""What our models share: they answer one request at a time, on the CPU, as chat or simple models of lmms-eval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from lmms_eval.api.model import lmms
from tqdm import tqdm


@dataclass(frozen=True)
class Request:
    """One sample to answer, whichever of the host's two forms it came in.

    Attributes:
        task: the host's task name.
        doc_id: number of the row in the split.
        split: name of the split.
        read: gives the prompt and the images when called; decodes the images.
    """

    task: str
    doc_id: int
    split: str
    read: Callable[[], tuple[str, list[Any]]]


class AnsweringModel(lmms):
    """A model that is a function from request to text; a subclass defines ``answer``."""

    def __init__(self, **settings: Any) -> None:
        """``settings`` (batch_size, device and so on) come from the host and are not used."""
        super().__init__()
        self.device = torch.device("cpu")  # the host gathers over several ranks on it

    def answer(self, request: Request) -> str:
        """The answer to one request."""
        raise NotImplementedError

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        """Answers in the order of the requests."""
        progress = tqdm(requests, disable=self.rank != 0, desc="Model Responding")
        return [self.answer(self.unpack(request.args)) for request in progress]

    def unpack(self, arguments: tuple[Any, ...]) -> Request:
        """A request from the host's tuple, whose form depends on ``is_simple``."""
        *_, doc_id, task, split = arguments
        docs = self.task_dict[task][split]

        def read_simple() -> tuple[str, list[Any]]:
            prompt, _, doc_to_visual = arguments[:3]
            return prompt, doc_to_visual(docs[doc_id])

        def read_chat() -> tuple[str, list[Any]]:
            contents = [part for message in arguments[1](docs[doc_id]) for part in message["content"]]
            prompt = "".join(part["text"] for part in contents if part["type"] == "text")
            return prompt, [part["url"] for part in contents if part["type"] == "image"]

        return Request(task, doc_id, split, read_simple if self.is_simple else read_chat)

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """Not supported: these models write answers and know no likelihoods."""
        raise NotImplementedError(f"{type(self).__name__} answers generate_until tasks only")

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        """Not supported: these models answer once."""
        raise NotImplementedError(f"{type(self).__name__} answers generate_until tasks only")
