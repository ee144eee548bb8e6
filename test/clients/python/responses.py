"""Responses with openai-python."""

import json
from base64 import b64encode
from typing import Any

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    LIMITED_SECONDS,
    MEDIA,
    MULTI_BYTE,
    PLAIN,
    STREAMED,
    asking,
    check,
    go_on,
    same,
    seen,
    was_broken_off,
)

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)

WEATHER_TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
    "strict": True,
}
ARGUMENTS = {"city": "Zürich", "unit": "celsius"}


class Weather(BaseModel):
    city: str
    degrees: int


def calls_of(response: Any) -> list[Any]:
    return [item for item in response.output if item.type == "function_call"]


def counts(usage: Any) -> tuple[int, int, int]:
    return usage.input_tokens, usage.output_tokens, usage.total_tokens


@check("responses: a non-streamed reply has text, status, usage and model")
def responses_whole() -> None:
    reply = client.responses.create(
        model=CHAT,
        instructions="Be short.",
        input=asking("plain", "py-r-whole"),
        temperature=0.5,
        max_output_tokens=50,
        metadata={"purpose": "a check"},
    )
    same((reply.object, reply.status, reply.model), ("response", "completed", CHAT))
    assert reply.id.startswith("resp_")
    same(reply.output_text, PLAIN)
    same((reply.error, reply.incomplete_details), (None, None))
    same(reply.metadata, {"purpose": "a check"})
    same(counts(reply.usage), (19, 10, 29))
    assert reply._request_id is not None and reply._request_id.startswith("req_")
    sent = seen("py-r-whole")[0]
    same([message["content"] for message in sent["messages"]][0], "Be short.")
    same(sent["temperature"], 0.5)


@check("responses: a stream has every event in order and joins to the exact text")
def responses_streamed() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        events = list(
            client.responses.create(
                model=CHAT, input=asking(answer, f"py-r-streamed-{answer}"), stream=True
            )
        )
        kinds = [event.type for event in events]
        same(kinds[:2], ["response.created", "response.in_progress"])
        same(kinds[2:4], ["response.output_item.added", "response.content_part.added"])
        same(
            kinds[-4:],
            [
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ],
        )
        same(set(kinds[4:-4]), {"response.output_text.delta"})
        same([event.sequence_number for event in events], list(range(len(events))))
        deltas = [event for event in events if event.type == "response.output_text.delta"]
        same("".join(event.delta for event in deltas), wanted)
        last: Any = events[-1]
        same(last.response.output_text, wanted)
        same(counts(last.response.usage), (19, 10, 29))


@check("responses: the stream helper builds the complete response")
def responses_helper() -> None:
    with client.responses.stream(model=CHAT, input=asking("role-again", "py-r-helper")) as stream:
        text = "".join(
            event.delta for event in stream if event.type == "response.output_text.delta"
        )
        final = stream.get_final_response()
    same((text, final.output_text), (STREAMED, STREAMED))
    same(counts(final.usage), (19, 10, 29))


@check("responses: parse returns the model class, streamed or not")
def responses_parsed() -> None:
    wanted = Weather(city="Zürich", degrees=21)
    reply = client.responses.parse(
        model=CHAT, input=asking("structured", "py-r-parsed"), text_format=Weather
    )
    same(reply.output_parsed, wanted)
    sent = seen("py-r-parsed")[0]["response_format"]
    same((sent["type"], sent["json_schema"]["name"]), ("json_schema", "Weather"))
    same(sorted(sent["json_schema"]["schema"]["properties"]), ["city", "degrees"])
    with client.responses.stream(
        model=CHAT, input=asking("structured", "py-r-parsed-stream"), text_format=Weather
    ) as stream:
        for _ in stream:
            pass
        same(stream.get_final_response().output_parsed, wanted)


@check("responses: a tool call arrives, streamed or not, and its result is accepted")
def responses_tool() -> None:
    question: Any = [{"role": "user", "content": asking("tool-loop", "py-r-tool")}]
    reply = client.responses.create(model=CHAT, input=question, tools=[WEATHER_TOOL])
    (call,) = calls_of(reply)
    same((call.call_id, call.name), ("call_vendor_a1", "get_weather"))
    same(json.loads(call.arguments), ARGUMENTS)
    sent = seen("py-r-tool")[0]["tools"][0]["function"]
    same((sent["name"], sent["parameters"]), ("get_weather", WEATHER_TOOL["parameters"]))

    with client.responses.stream(
        model=CHAT,
        input=[{"role": "user", "content": asking("tool", "py-r-tool-stream")}],
        tools=[WEATHER_TOOL],
    ) as stream:
        pieces = "".join(
            event.delta
            for event in stream
            if event.type == "response.function_call_arguments.delta"
        )
        (streamed_call,) = calls_of(stream.get_final_response())
    same((streamed_call.call_id, streamed_call.name), ("call_vendor_a1", "get_weather"))
    same((json.loads(pieces), json.loads(streamed_call.arguments)), (ARGUMENTS, ARGUMENTS))

    result = {"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"}
    after = client.responses.create(
        model=CHAT, input=[*question, *reply.output, result], tools=[WEATHER_TOOL]
    )
    same(after.output_text, PLAIN)
    messages = seen("py-r-tool")[1]["messages"]
    same(messages[1]["tool_calls"][0]["id"], "call_vendor_a1")
    same((messages[2]["role"], messages[2]["tool_call_id"]), ("tool", "call_vendor_a1"))
    same(messages[2]["content"], "21 degrees")


@check("responses: parallel tool calls stay separate, streamed or not")
def responses_parallel() -> None:
    wanted = [("call_vendor_0", {"city": "Bern"}), ("call_vendor_1", {"city": "Oslo"})]
    reply = client.responses.create(
        model=CHAT, input=asking("two-tools", "py-r-two"), tools=[WEATHER_TOOL]
    )
    same([(call.call_id, json.loads(call.arguments)) for call in calls_of(reply)], wanted)
    with client.responses.stream(
        model=CHAT, input=asking("two-tools", "py-r-two-stream"), tools=[WEATHER_TOOL]
    ) as stream:
        for _ in stream:
            pass
        streamed = calls_of(stream.get_final_response())
    same(len(streamed), 2)
    same(len({call.call_id for call in streamed}), 2)


@check("responses: reasoning is an item of its own, has an encrypted form, and can be sent back")
def responses_reasoning() -> None:
    question: Any = [{"role": "user", "content": asking("readable-thoughts", "py-r-thoughts")}]
    with client.responses.stream(
        model=CHAT,
        input=question,
        include=["reasoning.encrypted_content"],
        reasoning={"summary": "auto"},
        store=False,
    ) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    same(final.output_text, "42")
    thoughts = [item for item in final.output if item.type == "reasoning"]
    assert len(thoughts) > 0, "there is no reasoning item"
    said = "".join(part.text for item in thoughts for part in item.summary)
    same(said, "First this. Then that.")
    # The signature comes last, after the answer, so an item of its own carries it.
    assert any(item.encrypted_content for item in thoughts), "it is not encrypted"
    more: Any = [*question, *final.output, {"role": "user", "content": "Go on."}]
    client.responses.create(model=CHAT, input=more, store=False)
    answer = seen("py-r-thoughts")[1]["messages"][1]
    same(answer["content"], "42")
    # Strict servers refuse this field, so only vendors that ask for it get it.
    assert "reasoning_details" not in answer, "a plain server got signed reasoning"


@check("responses: image parts reach the model")
def responses_image() -> None:
    picture = f"data:image/png;base64,{b64encode((MEDIA / 'tiny.png').read_bytes()).decode()}"
    content: Any = [
        {"type": "input_text", "text": asking("plain", "py-r-image")},
        {"type": "input_image", "image_url": picture, "detail": "low"},
    ]
    reply = client.responses.create(model=CHAT, input=[{"role": "user", "content": content}])
    same(reply.output_text, PLAIN)
    sent = seen("py-r-image")[0]["messages"][0]["content"][1]
    same((sent["type"], sent["image_url"]["url"]), ("image_url", picture))


@check("responses: the asynchronous client works, streamed or not")
async def responses_asynchronous() -> None:
    async with AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0) as other:
        reply = await other.responses.create(model=CHAT, input=asking("plain", "py-r-async"))
        same(reply.output_text, PLAIN)
        async with other.responses.stream(
            model=CHAT, input=asking("multi-byte", "py-r-async-stream")
        ) as stream:
            same((await stream.get_final_response()).output_text, MULTI_BYTE)


@check("responses: leaving in the middle of a stream stops the model")
def responses_leaving() -> None:
    stream = client.responses.create(model=CHAT, input=asking("hang", "py-r-leave"), stream=True)
    for event in stream:
        if event.type == "response.output_text.delta":
            break
    stream.close()
    same(was_broken_off("py-r-leave"), True)


@check("responses: a stream that breaks never ends as completed")
def responses_broken() -> None:
    kinds: list[str] = []
    failed = ""
    try:
        for event in client.responses.create(
            model=CHAT, input=asking("broken", "py-r-broken"), stream=True
        ):
            kinds.append(event.type)
            if event.type == "response.output_text.delta":
                go_on("py-r-broken")
    except openai.APIError as error:
        failed = error.message
    assert "response.output_text.delta" in kinds, kinds
    assert "response.completed" not in kinds, kinds
    assert failed != "" or kinds[-1] in ("response.failed", "error"), kinds


@check("responses: 400 names the invalid field, before the model is called")
def responses_invalid() -> None:
    wrong: dict[str, dict[str, Any]] = {
        "temperature": {"temperature": 3},
        "background": {"background": True},
        "previous_response_id": {"previous_response_id": "resp_0123456789"},
        "conversation": {"conversation": "conv_1"},
    }
    for field, value in wrong.items():
        try:
            client.responses.create(model=CHAT, input=asking("plain", "py-r-400"), **value)
        except openai.BadRequestError as error:
            same(error.param, field)
        else:
            raise AssertionError(f"{field} was accepted")
    same(seen("py-r-400"), [])


@check("responses: a 429 is retried after the wait that the gateway requests")
def responses_retried() -> None:
    patient = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=2)
    reply = patient.responses.create(model=CHAT, input=asking("limited-once", "py-r-retry"))
    same(reply.output_text, PLAIN)
    same(len(seen("py-r-retry")), 2)
    assert LIMITED_SECONDS > 1
