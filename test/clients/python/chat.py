"""Chat completions with openai-python."""

import asyncio
import json
from base64 import b64encode
from typing import Any

from openai import AsyncOpenAI, OpenAI, pydantic_function_tool
from pydantic import BaseModel

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    MEDIA,
    MULTI_BYTE,
    PLAIN,
    STREAMED,
    check,
    same,
    seen,
    user,
)

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)

USAGE = (19, 10, 29)


class Weather(BaseModel):
    city: str
    degrees: int


class GetWeather(BaseModel):
    """The weather of a city."""

    city: str


WEATHER_TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def counts(usage: Any) -> tuple[int, int, int]:
    return usage.prompt_tokens, usage.completion_tokens, usage.total_tokens


def tool_calls(reply: Any) -> list[Any]:
    return reply.choices[0].message.tool_calls or []


@check("chat: a non-streamed reply has text, finish reason, usage and model")
def whole() -> None:
    reply = client.chat.completions.create(
        model=CHAT, messages=user("plain", "py-whole"), temperature=0.5, max_tokens=50
    )
    same(reply.object, "chat.completion")
    same(reply.model, CHAT)
    same(len(reply.choices), 1)
    same(reply.choices[0].message.content, PLAIN)
    same(reply.choices[0].message.role, "assistant")
    same(reply.choices[0].message.refusal, None)
    same(reply.choices[0].finish_reason, "stop")
    assert reply.usage is not None
    same(counts(reply.usage), USAGE)
    assert reply._request_id is not None and reply._request_id.startswith("req_")
    same(seen("py-whole")[0]["temperature"], 0.5)


@check("chat: a streamed reply joins to the exact text, including multi-byte characters")
def streamed() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        with client.chat.completions.create(
            model=CHAT, messages=user(answer, f"py-streamed-{answer}"), stream=True
        ) as stream:
            chunks = list(stream)
        same("".join(chunk.choices[0].delta.content or "" for chunk in chunks), wanted)
        roles = [chunk.choices[0].delta.role for chunk in chunks]
        same(roles, ["assistant"] + [None] * (len(chunks) - 1))
        same({chunk.id for chunk in chunks}, {chunks[0].id})
        same({chunk.model for chunk in chunks}, {CHAT})
        reasons = [chunk.choices[0].finish_reason for chunk in chunks]
        same(reasons, [None] * (len(chunks) - 1) + ["stop"])
        same([chunk.usage for chunk in chunks], [None] * len(chunks))


@check("chat: include_usage adds a last chunk with usage")
def include_usage() -> None:
    chunks = list(
        client.chat.completions.create(
            model=CHAT,
            messages=user("plain", "py-usage"),
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    same(chunks[-1].choices, [])
    same(counts(chunks[-1].usage), USAGE)
    same([chunk.usage for chunk in chunks[:-1]], [None] * (len(chunks) - 1))


@check("chat: the stream helper builds the complete reply, with the role sent once")
def helper() -> None:
    with client.chat.completions.stream(
        model=CHAT, messages=user("role-again", "py-helper"), stream_options={"include_usage": True}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    same([kind for kind in kinds if kind != "chunk"], ["content.delta"] * 3 + ["content.done"])
    same(final.choices[0].message.content, STREAMED)
    same(final.choices[0].message.role, "assistant")
    same(counts(final.usage), USAGE)


@check("chat: structured output is parsed into the model class, streamed or not")
def parsed() -> None:
    wanted = Weather(city="Zürich", degrees=21)
    reply = client.chat.completions.parse(
        model=CHAT, messages=user("structured", "py-parsed"), response_format=Weather
    )
    same(reply.choices[0].message.parsed, wanted)
    sent = seen("py-parsed")[0]["response_format"]
    same((sent["type"], sent["json_schema"]["name"]), ("json_schema", "Weather"))
    same(sorted(sent["json_schema"]["schema"]["properties"]), ["city", "degrees"])
    with client.chat.completions.stream(
        model=CHAT, messages=user("structured", "py-parsed-stream"), response_format=Weather
    ) as stream:
        same(stream.get_final_completion().choices[0].message.parsed, wanted)


@check("chat: a tool call arrives, streamed or not, and its result is accepted")
def tool() -> None:
    arguments = {"city": "Zürich", "unit": "celsius"}
    question = user("tool", "py-tool")
    reply = client.chat.completions.create(model=CHAT, messages=question, tools=[WEATHER_TOOL])
    same(reply.choices[0].finish_reason, "tool_calls")
    same(reply.choices[0].message.content, None)
    (call,) = tool_calls(reply)
    same((call.id, call.function.name), ("call_vendor_a1", "get_weather"))
    same(json.loads(call.function.arguments), arguments)
    same(seen("py-tool")[0]["tools"], [WEATHER_TOOL])

    with client.chat.completions.stream(
        model=CHAT, messages=user("tool", "py-tool-stream"), tools=[WEATHER_TOOL]
    ) as stream:
        final = stream.get_final_completion()
    (streamed_call,) = tool_calls(final)
    same((streamed_call.id, streamed_call.function.name), ("call_vendor_a1", "get_weather"))
    same(json.loads(streamed_call.function.arguments), arguments)
    same(final.choices[0].finish_reason, "tool_calls")

    result = {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}
    after: Any = [{"role": "user", "content": "answer=plain tag=py-tool-result"}]
    after += [reply.choices[0].message.model_dump(exclude_none=True), result]
    client.chat.completions.create(model=CHAT, messages=after, tools=[WEATHER_TOOL])
    same(seen("py-tool-result")[0]["messages"][2], result)


@check("chat: parallel tool calls stay separate, streamed or not")
def parallel_tools() -> None:
    wanted = [("call_vendor_0", "Bern"), ("call_vendor_1", "Oslo")]
    tools: Any = [pydantic_function_tool(GetWeather, name="get_weather")]
    reply = client.chat.completions.parse(
        model=CHAT, messages=user("two-tools", "py-two"), tools=tools, parallel_tool_calls=True
    )
    with client.chat.completions.stream(
        model=CHAT, messages=user("two-tools", "py-two-stream"), tools=tools
    ) as stream:
        final = stream.get_final_completion()
    for whole_reply in (reply, final):
        calls = tool_calls(whole_reply)
        same([(call.id, call.function.parsed_arguments.city) for call in calls], wanted)
    same(seen("py-two")[0]["parallel_tool_calls"], True)


@check("chat: n=2 returns two choices, streamed or not")
def two_choices() -> None:
    wanted = [("Heads", "stop"), ("Tails", "length")]
    reply = client.chat.completions.create(model=CHAT, messages=user("two-choices", "py-n"), n=2)
    same([(choice.message.content, choice.finish_reason) for choice in reply.choices], wanted)
    texts, reasons = ["", ""], ["", ""]
    for chunk in client.chat.completions.create(
        model=CHAT, messages=user("two-choices", "py-n-stream"), n=2, stream=True
    ):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
            reasons[choice.index] += choice.finish_reason or ""
    same(list(zip(texts, reasons, strict=True)), wanted)
    same(seen("py-n")[0]["n"], 2)


@check("chat: logprobs arrive, streamed or not")
def logprobs() -> None:
    wanted = [("Hi", -0.25), ("!", -0.5)]
    reply = client.chat.completions.create(
        model=CHAT, messages=user("logprobs", "py-logprobs"), logprobs=True, top_logprobs=1
    )
    given: Any = reply.choices[0].logprobs
    same([(token.token, token.logprob) for token in given.content], wanted)
    same(given.content[0].top_logprobs[0].bytes, [72, 105])
    with client.chat.completions.stream(
        model=CHAT, messages=user("logprobs", "py-logprobs-stream"), logprobs=True
    ) as stream:
        given = stream.get_final_completion().choices[0].logprobs
    same([(token.token, token.logprob) for token in given.content], wanted)
    sent = seen("py-logprobs")[0]
    same((sent["logprobs"], sent["top_logprobs"]), (True, 1))


@check("chat: image parts reach the model")
def image_parts() -> None:
    picture = f"data:image/png;base64,{b64encode((MEDIA / 'tiny.png').read_bytes()).decode()}"
    content: Any = [
        {"type": "text", "text": "answer=plain tag=py-image"},
        {"type": "image_url", "image_url": {"url": picture, "detail": "low"}},
    ]
    reply = client.chat.completions.create(
        model=CHAT, messages=[{"role": "user", "content": content}]
    )
    same(reply.choices[0].message.content, PLAIN)
    same(seen("py-image")[0]["messages"][0]["content"], content)


@check("chat: the developer role is accepted")
def developer() -> None:
    messages: Any = [{"role": "developer", "content": "Be short."}, *user("plain", "py-developer")]
    reply = client.chat.completions.create(model=CHAT, messages=messages)
    same(reply.choices[0].message.content, PLAIN)
    same(seen("py-developer")[0]["messages"][0]["content"], "Be short.")


@check("chat: reasoning_content is kept, streamed or not")
def reasoning() -> None:
    reply = client.chat.completions.create(model=CHAT, messages=user("reasoning", "py-reasoning"))
    extra = reply.choices[0].message.model_extra or {}
    same(extra.get("reasoning_content"), "Six times seven, so forty-two.")
    same(reply.choices[0].message.content, "42")
    thought, said = "", ""
    for chunk in client.chat.completions.create(
        model=CHAT, messages=user("reasoning", "py-reasoning-stream"), stream=True
    ):
        delta = chunk.choices[0].delta
        thought += (delta.model_extra or {}).get("reasoning_content") or ""
        said += delta.content or ""
    same((thought, said), ("Six times seven.", "42"))


@check("chat: the stream helper keeps all signed reasoning")
def signed_thoughts() -> None:
    with client.chat.completions.stream(
        model=CHAT, messages=user("signed-thoughts", "py-thoughts")
    ) as stream:
        final = stream.get_final_completion().choices[0].message
    same(final.content, "42")
    same(
        [
            (entry["index"], entry["text"], entry["signature"])
            for entry in (final.model_extra or {})["reasoning_details"]
        ],
        [(0, "First this.", "c2lnMQ=="), (1, "Then that.", "c2lnMg==")],
    )


@check("chat: the asynchronous client works, streamed or not, and concurrently")
async def asynchronous() -> None:
    async with AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0) as other:
        replies = await asyncio.gather(
            *(
                other.chat.completions.create(model=CHAT, messages=user("plain", f"py-async-{at}"))
                for at in range(8)
            )
        )
        same({reply.choices[0].message.content for reply in replies}, {PLAIN})
        same(len({reply.id for reply in replies}), 8)
        text = ""
        stream = await other.chat.completions.create(
            model=CHAT, messages=user("multi-byte", "py-async-stream"), stream=True
        )
        async for chunk in stream:
            text += chunk.choices[0].delta.content or ""
        same(text, MULTI_BYTE)
