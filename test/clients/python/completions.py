"""Legacy completions with openai-python."""

from typing import Any

import openai
from openai import OpenAI

from checks import API_KEY, BASE_URL, CHAT, COMPLETED, asking, check, same, seen

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


@check("completions: a non-streamed reply has text, finish reason, usage and model")
def completed() -> None:
    reply = client.completions.create(
        model=CHAT, prompt=asking("plain", "py-c-whole"), max_tokens=50, temperature=0
    )
    same((reply.object, reply.model), ("text_completion", CHAT))
    same([choice.text for choice in reply.choices], [COMPLETED])
    same(reply.choices[0].finish_reason, "stop")
    usage: Any = reply.usage
    same((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (5, 6, 11))
    same(seen("py-c-whole")[0]["max_tokens"], 50)


@check("completions: a streamed reply joins to the exact text")
def completed_stream() -> None:
    chunks = list(
        client.completions.create(
            model=CHAT,
            prompt=asking("plain", "py-c-stream"),
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    same("".join(choice.text for chunk in chunks for choice in chunk.choices), COMPLETED)
    usage: Any = chunks[-1].usage
    same((usage.prompt_tokens, usage.completion_tokens), (5, 6))


@check("completions: 400 names the invalid field")
def completions_invalid() -> None:
    try:
        client.completions.create(model=CHAT, prompt=asking("plain", "py-c-400"), temperature=3)
    except openai.BadRequestError as error:
        same(error.param, "temperature")
    else:
        raise AssertionError("it was accepted")
    same(seen("py-c-400"), [])
