"""What goes wrong, and what openai-python makes of it."""

import logging
from collections.abc import Callable
from typing import Any

import openai
from openai import AsyncOpenAI, OpenAI

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    LIMITED_SECONDS,
    NARROW_KEY,
    SPEECH,
    TEXT_EMBEDDING,
    check,
    go_on,
    same,
    seen,
    user,
    was_broken_off,
)

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
patient = OpenAI(base_url=BASE_URL, api_key=API_KEY)


class Said(logging.Handler):
    """Keeps what the client logs, since it tells there how long it waits and why it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def __enter__(self) -> "Said":
        logger = logging.getLogger("openai")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("openai").removeHandler(self)


def raised(kind: type[openai.APIStatusError], call: Callable[[], Any]) -> openai.APIStatusError:
    try:
        call()
    except openai.APIStatusError as error:
        same(type(error), kind)
        assert error.request_id is not None and error.request_id.startswith("req_")
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def told(error: openai.APIStatusError) -> tuple[Any, Any, Any, Any]:
    return error.status_code, error.code, error.type, error.param


def ask(answer: str, tag: str, **fields: Any) -> Any:
    return client.chat.completions.create(
        **{"model": CHAT, "messages": user(answer, tag), **fields}
    )


@check("errors: 401 for an invalid key")
def wrong_key() -> None:
    other = OpenAI(base_url=BASE_URL, api_key="sk-svc-wrong")
    error = raised(openai.AuthenticationError, lambda: other.models.list())
    same(told(error), (401, "invalid_api_key", "invalid_request_error", None))


@check("errors: 403 for a model that does not exist or that the key may not use")
def not_allowed() -> None:
    narrow = OpenAI(base_url=BASE_URL, api_key=NARROW_KEY, max_retries=0)
    calls: list[Callable[[], Any]] = [
        lambda: ask("plain", "py-403", model="no-such-model"),
        lambda: narrow.chat.completions.create(model=CHAT, messages=user("plain", "py-403")),
    ]
    for call in calls:
        error = raised(openai.PermissionDeniedError, call)
        same(told(error), (403, "model_not_allowed", "permission_error", "model"))
    same(seen("py-403"), [])


@check("errors: 400 names the invalid field")
def bad_field() -> None:
    any_client: Any = client
    calls: dict[str, Callable[[], Any]] = {
        "temperature": lambda: ask("plain", "py-400", temperature=3),
        "dimensions": lambda: client.embeddings.create(
            model=TEXT_EMBEDDING, input="x", dimensions=5
        ),
        "voice": lambda: any_client.audio.speech.create(model=SPEECH, input="x", voice="alloy"),
    }
    for param, call in calls.items():
        error = raised(openai.BadRequestError, call)
        same(told(error), (400, "invalid_request", "invalid_request_error", param))
        assert len(error.message) > 20, error.message
    same(seen("py-400"), [])


@check("errors: 400 for a conversation that is too long has its own code")
def too_long() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: ask("too-long", "py-too-long"),
        lambda: ask("too-long", "py-too-long-stream", stream=True),
    ]
    for call in calls:
        same(raised(openai.BadRequestError, call).code, "context_length_exceeded")


@check("errors: 404 for an unknown model and an unknown path")
def not_found() -> None:
    error = raised(openai.NotFoundError, lambda: client.models.retrieve("no-such-model"))
    same((error.status_code, error.code), (404, "model_not_found"))
    error = raised(openai.NotFoundError, lambda: client.files.list())
    same((error.status_code, error.code), (404, "not_found"))


@check("errors: 429 and 5xx have their own types")
def limited() -> None:
    error = raised(openai.RateLimitError, lambda: ask("limited", "py-429"))
    same(told(error), (429, "upstream_rate_limited", "rate_limit_error", None))
    same(error.response.headers["retry-after-ms"], f"{LIMITED_SECONDS * 1000:.0f}")
    error = raised(openai.InternalServerError, lambda: ask("failed", "py-502"))
    same((error.status_code, error.type), (502, "upstream_error"))


@check("retries: a 429 is retried after exactly the requested time")
def retry_limited() -> None:
    with Said() as said:
        reply = patient.chat.completions.create(
            model=CHAT, messages=user("limited-once", "py-retry-429")
        )
    same(reply.choices[0].finish_reason, "stop")
    same(len(seen("py-retry-429")), 2)
    waits = [line for line in said.lines if line.startswith("Retrying request in")]
    same(waits, [f"Retrying request in {LIMITED_SECONDS:f} seconds (retry 1 of 2)"])


@check("retries: a 503 is retried after exactly the requested time, also for a stream")
def retry_overloaded() -> None:
    with Said() as said:
        chunks = list(
            patient.chat.completions.create(
                model=CHAT, messages=user("overloaded-once", "py-retry-503"), stream=True
            )
        )
    same(chunks[-1].choices[0].finish_reason, "stop")
    same(len(seen("py-retry-503")), 2)
    waits = [line for line in said.lines if line.startswith("Retrying request in")]
    same(waits, [f"Retrying request in {1:f} seconds (retry 1 of 2)"])


@check("retries: permanent errors are not retried, because the gateway says so")
def not_retried() -> None:
    with Said() as said:
        error = raised(
            openai.BadRequestError,
            lambda: patient.chat.completions.create(
                model=CHAT, messages=user("refused", "py-refused")
            ),
        )
    same(error.response.headers["x-should-retry"], "false")
    same(len(seen("py-refused")), 1)
    assert "Not retrying as header `x-should-retry` is set to `false`" in said.lines, said.lines


@check("streams: a failure in the middle raises, after the text that came before it")
def breaks() -> None:
    for answer in ("broken", "cut"):
        tag, text = f"py-{answer}", ""
        try:
            for chunk in ask(answer, tag, stream=True):
                text += chunk.choices[0].delta.content or ""
                if text == "Hello!":
                    go_on(tag)
        except openai.APIError as error:
            same((type(error), error.code), (openai.APIError, "upstream_error"))
        else:
            raise AssertionError(f"{answer}: it looked like a good end after {text!r}")
        assert text.startswith("Hello!"), text


@check("streams: disconnecting stops the upstream, with both clients")
async def leaves() -> None:
    stream = ask("hang", "py-leave", stream=True)
    next(iter(stream))
    stream.close()
    same(was_broken_off("py-leave"), True)
    async with AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0) as other:
        async_stream = await other.chat.completions.create(
            model=CHAT, messages=user("hang", "py-leave-async"), stream=True
        )
        async for _ in async_stream:
            break
        await async_stream.close()
    same(was_broken_off("py-leave-async"), True)
