"""Every check of anthropic, the Python SDK of the Messages API."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import anthropic
from anthropic import Anthropic, AsyncAnthropic, beta_tool
from pydantic import BaseModel

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    MEDIA,
    MULTI_BYTE,
    NARROW_KEY,
    PLAIN,
    STREAMED,
    check,
    go_on,
    run_all,
    same,
    seen,
    user,
    was_broken_off,
)

ORIGIN = BASE_URL.removesuffix("/v1")
client = Anthropic(base_url=ORIGIN, api_key=API_KEY, max_retries=0)

WEATHER_TOOL: Any = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    },
}
ARGUMENTS = {"city": "Zürich", "unit": "celsius"}


class Weather(BaseModel):
    city: str
    degrees: int


def counts(usage: Any) -> tuple[int, int, int]:
    """In this dialect the input leaves out what was read from the cache."""
    return usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens


def ask(answer: str, tag: str, **fields: Any) -> Any:
    return client.messages.create(
        **{"model": CHAT, "max_tokens": 100, "messages": user(answer, tag), **fields}
    )


def streaming(answer: str, tag: str, **fields: Any) -> Any:
    return client.messages.stream(
        model=CHAT, max_tokens=100, messages=user(answer, tag), **fields
    )


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def tools_of(message: Any) -> list[Any]:
    return [block for block in message.content if block.type == "tool_use"]


def raised(kind: type[anthropic.APIStatusError], call: Callable[[], Any]) -> Any:
    try:
        call()
    except anthropic.APIStatusError as error:
        same(type(error), kind)
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


@check("messages: a non-streamed reply has text, stop reason, usage and model")
def whole() -> None:
    # This version of the SDK has no argument for the temperature.
    more = {"temperature": 0.5}
    reply = ask(
        "plain", "an-whole", system="Be short.", stop_sequences=["END"], extra_body=more
    )
    same((reply.type, reply.role, reply.model), ("message", "assistant", CHAT))
    assert reply.id.startswith("msg_")
    same(text_of(reply), PLAIN)
    same((reply.stop_reason, reply.stop_sequence), ("end_turn", None))
    same(counts(reply.usage), (11, 8, 10))
    assert reply._request_id is not None and reply._request_id.startswith("req_")
    sent = seen("an-whole")[0]
    same([message["role"] for message in sent["messages"]], ["system", "user"])
    same((sent["temperature"], sent["stop"]), (0.5, ["END"]))


@check("messages: a bearer token works as well as x-api-key")
def bearer() -> None:
    other = Anthropic(base_url=ORIGIN, auth_token=API_KEY, max_retries=0)
    reply = other.messages.create(
        model=CHAT, max_tokens=100, messages=user("plain", "an-bearer")
    )
    same(text_of(reply), PLAIN)


@check("messages: a stream has every event in order and joins to the exact text")
def streamed() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        events = list(ask(answer, f"an-streamed-{answer}", stream=True))
        kinds = [event.type for event in events if event.type != "ping"]
        same(kinds[:2], ["message_start", "content_block_start"])
        same(kinds[-3:], ["content_block_stop", "message_delta", "message_stop"])
        same(set(kinds[2:-3]), {"content_block_delta"})
        deltas = [event.delta for event in events if event.type == "content_block_delta"]
        same("".join(delta.text for delta in deltas), wanted)
        (end,) = [event for event in events if event.type == "message_delta"]
        same((end.delta.stop_reason, end.usage.output_tokens), ("end_turn", 10))


@check("messages: the stream helper builds the complete message")
def helper() -> None:
    with streaming("role-again", "an-helper") as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    same((text, text_of(final), final.stop_reason), (STREAMED, STREAMED, "end_turn"))
    same(counts(final.usage), (11, 8, 10))


@check("messages: structured output is parsed into the model class")
def parsed() -> None:
    reply = client.messages.parse(
        model=CHAT,
        max_tokens=100,
        messages=user("structured", "an-parsed"),
        output_format=Weather,
    )
    same(reply.parsed_output, Weather(city="Zürich", degrees=21))
    sent = seen("an-parsed")[0]["response_format"]
    same(sent["type"], "json_schema")
    same(sorted(sent["json_schema"]["schema"]["properties"]), ["city", "degrees"])


@check("messages: a tool call arrives, streamed or not, and its result is accepted")
def tool() -> None:
    question = user("tool-loop", "an-tool")
    reply = ask("", "", messages=question, tools=[WEATHER_TOOL])
    same(reply.stop_reason, "tool_use")
    (call,) = tools_of(reply)
    same((call.id, call.name, call.input), ("call_vendor_a1", "get_weather", ARGUMENTS))
    sent = seen("an-tool")[0]["tools"][0]["function"]
    same((sent["name"], sent["parameters"]), ("get_weather", WEATHER_TOOL["input_schema"]))

    with streaming("tool", "an-tool-stream", tools=[WEATHER_TOOL]) as stream:
        (streamed_call,) = tools_of(stream.get_final_message())
    same((streamed_call.id, streamed_call.input), ("call_vendor_a1", ARGUMENTS))

    result = {"type": "tool_result", "tool_use_id": call.id, "content": "21 degrees"}
    after: Any = [
        *question,
        {"role": "assistant", "content": reply.content},
        {"role": "user", "content": [result]},
    ]
    same(text_of(ask("", "", messages=after, tools=[WEATHER_TOOL])), PLAIN)
    messages = seen("an-tool")[1]["messages"]
    made = messages[1]["tool_calls"][0]
    same((made["id"], json.loads(made["function"]["arguments"])), ("call_vendor_a1", ARGUMENTS))
    same((messages[2]["role"], messages[2]["tool_call_id"]), ("tool", "call_vendor_a1"))
    same(messages[2]["content"], "21 degrees")


@check("messages: parallel tool calls stay separate, streamed or not")
def parallel() -> None:
    wanted = [("call_vendor_0", {"city": "Bern"}), ("call_vendor_1", {"city": "Oslo"})]
    reply = ask("two-tools", "an-two", tools=[WEATHER_TOOL])
    same([(call.id, call.input) for call in tools_of(reply)], wanted)
    with streaming("two-tools", "an-two-stream", tools=[WEATHER_TOOL]) as stream:
        same(len({call.id for call in tools_of(stream.get_final_message())}), 2)


@check("messages: the tool runner calls the tool and returns the last message")
def runner() -> None:
    asked: list[str] = []

    @beta_tool
    def get_weather(city: str, unit: str) -> str:
        """The weather of a city.

        Args:
            city: The city.
            unit: The unit of the temperature.
        """
        asked.append(f"{city} {unit}")
        return "21 degrees"

    for stream in (False, True):
        tag = f"an-runner-{str(stream).lower()}"
        last = client.beta.messages.tool_runner(
            model=CHAT,
            max_tokens=100,
            messages=user("tool-loop", tag),
            tools=[get_weather],
            stream=stream,
        ).until_done()
        same(text_of(last), STREAMED if stream else PLAIN)
        same(seen(tag)[1]["messages"][2]["content"], "21 degrees")
    same(asked, ["Zürich celsius", "Zürich celsius"])


@check("messages: thinking has a signature, and can be sent back")
def thinking() -> None:
    question = user("readable-thoughts", "an-thoughts")
    fields: Any = {
        "model": CHAT,
        "max_tokens": 2_000,
        "thinking": {"type": "enabled", "budget_tokens": 1_024},
    }
    with client.messages.stream(messages=question, **fields) as stream:
        final = stream.get_final_message()
    same(text_of(final), "42")
    thoughts: Any = [block for block in final.content if block.type == "thinking"]
    said = "".join(block.thinking for block in thoughts)
    same(said, "First this. Then that.")
    assert all(block.signature for block in thoughts), "a thought has no signature"
    more: Any = [
        *question,
        {"role": "assistant", "content": final.content},
        {"role": "user", "content": "Go on."},
    ]
    client.messages.create(messages=more, **fields)
    same(seen("an-thoughts")[1]["messages"][1]["content"], "42")


@check("messages: images reach the model, in questions and in tool results")
def images() -> None:
    data = b64encode((MEDIA / "tiny.png").read_bytes()).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    picture: Any = {"type": "image", "source": source}
    words = {"type": "text", "text": "answer=plain tag=an-image"}
    ask("", "", messages=[{"role": "user", "content": [words, picture]}])
    sent = seen("an-image")[0]["messages"][0]["content"][1]
    same(sent["image_url"]["url"], f"data:image/png;base64,{data}")

    call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [picture]}
    messages: Any = [
        *user("plain", "an-tool-image"),
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    same(text_of(ask("", "", messages=messages, tools=[WEATHER_TOOL])), PLAIN)
    assert data in json.dumps(seen("an-tool-image")[0]), "the image did not arrive"


@check("messages: count_tokens counts without calling the model")
def counted() -> None:
    few = client.messages.count_tokens(model=CHAT, messages=user("plain", "an-count"))
    many = client.messages.count_tokens(
        model=CHAT,
        system="Be short. " * 50,
        messages=user("plain", "an-count"),
        tools=[WEATHER_TOOL],
    )
    assert 5 < few.input_tokens < 40, few
    assert many.input_tokens > few.input_tokens + 50, (few, many)
    same(seen("an-count"), [])


@check("models: list and retrieve answer in the dialect of the SDK")
def models() -> None:
    listed = list(client.models.list(limit=3))
    assert CHAT in [model.id for model in listed], listed
    same({model.type for model in listed}, {"model"})
    one = client.models.retrieve(CHAT)
    same((one.id, one.type), (CHAT, "model"))


@check("messages: the asynchronous client works, streamed or not")
async def asynchronous() -> None:
    async with AsyncAnthropic(base_url=ORIGIN, api_key=API_KEY, max_retries=0) as other:
        fields: Any = {"model": CHAT, "max_tokens": 100}
        reply = await other.messages.create(messages=user("plain", "an-async"), **fields)
        same(text_of(reply), PLAIN)
        async with other.messages.stream(
            messages=user("multi-byte", "an-async-stream"), **fields
        ) as stream:
            same(await stream.get_final_text(), MULTI_BYTE)


@check("messages: leaving in the middle of a stream stops the model")
def leaving() -> None:
    with streaming("hang", "an-leave") as stream:
        for _ in stream.text_stream:
            break
    same(was_broken_off("an-leave"), True)


@check("errors: a stream that breaks raises, and never ends as a message")
def broken() -> None:
    kinds: list[str] = []
    try:
        for event in ask("broken", "an-broken", stream=True):
            kinds.append(event.type)
            if event.type == "content_block_delta":
                go_on("an-broken")
    except anthropic.APIError as error:
        body: Any = error.body
        same((body["type"], body["error"]["type"]), ("error", "api_error"))
    else:
        raise AssertionError(f"it ended with {kinds}")
    assert "content_block_delta" in kinds and "message_stop" not in kinds, kinds


@check("errors: each status has the SDK's class and Anthropic's error type")
def classes() -> None:
    wrong = Anthropic(base_url=ORIGIN, api_key="sk-svc-wrong", max_retries=0)
    narrow = Anthropic(base_url=ORIGIN, api_key=NARROW_KEY, max_retries=0)
    fields: Any = {"model": CHAT, "max_tokens": 9, "messages": user("plain", "an-errors")}
    cases: list[tuple[Any, str, Callable[[], Any]]] = [
        (
            anthropic.AuthenticationError,
            "authentication_error",
            lambda: wrong.messages.create(**fields),
        ),
        (
            anthropic.PermissionDeniedError,
            "permission_error",
            lambda: narrow.messages.create(**fields),
        ),
        (
            anthropic.BadRequestError,
            "invalid_request_error",
            lambda: ask("plain", "an-errors", extra_body={"temperature": 7}),
        ),
        (anthropic.RateLimitError, "rate_limit_error", lambda: ask("limited", "an-limited")),
    ]
    for kind, name, call in cases:
        error = raised(kind, call)
        same((error.body["type"], error.body["error"]["type"]), ("error", name))
        assert error.request_id is not None and error.request_id.startswith("req_")
    same(seen("an-errors"), [])


@check("errors: a 429 is retried, and the reply arrives")
def retried() -> None:
    patient = Anthropic(base_url=ORIGIN, api_key=API_KEY, max_retries=2)
    reply = patient.messages.create(
        model=CHAT, max_tokens=100, messages=user("limited-once", "an-retry")
    )
    same(text_of(reply), PLAIN)
    same(len(seen("an-retry")), 2)


run_all()
