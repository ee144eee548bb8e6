"""Every check of langchain-anthropic."""

from base64 import b64encode
from typing import Any

import anthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, SecretStr

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    MEDIA,
    MULTI_BYTE,
    PLAIN,
    STREAMED,
    asking,
    check,
    run_all,
    same,
    seen,
)


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


@tool
def get_weather(city: str, unit: str) -> str:
    """The weather of a city."""
    return f"21 degrees {unit} in {city}"


def model(**options: Any) -> ChatAnthropic:
    options = {
        "base_url": BASE_URL.removesuffix("/v1"),
        "api_key": SecretStr(API_KEY),
        "max_retries": 0,
        "max_tokens": 100,
        **options,
    }
    return ChatAnthropic(model_name=CHAT, **options)


def text_of(message: Any) -> str:
    return str(message.text)


@check("invoke returns text, usage and stop reason")
def invoke() -> None:
    reply = model(temperature=0).invoke(
        [SystemMessage("Be short."), HumanMessage(asking("plain", "la-invoke"))]
    )
    same(text_of(reply), PLAIN)
    usage: Any = reply.usage_metadata
    same((usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]), (19, 10, 29))
    same(reply.response_metadata["stop_reason"], "end_turn")
    sent = seen("la-invoke")[0]
    same([message["role"] for message in sent["messages"]], ["system", "user"])


@check("the stream joins to the exact text, with usage at the end")
def stream() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        chunks = list(model().stream(asking(answer, f"la-stream-{answer}")))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        same(text_of(whole), wanted)
        same(isinstance(whole, AIMessageChunk), True)
        usage: Any = whole.usage_metadata
        same((usage["input_tokens"], usage["output_tokens"]), (19, 10))


@check("ainvoke and astream return the same")
async def asynchronous() -> None:
    same(text_of(await model().ainvoke(asking("plain", "la-ainvoke"))), PLAIN)
    text = ""
    async for chunk in model().astream(asking("multi-byte", "la-astream")):
        text += text_of(chunk)
    same(text, MULTI_BYTE)


@check("bind_tools calls a tool and sends its result back")
def tools() -> None:
    bound = model().bind_tools([get_weather])
    question = HumanMessage(asking("tool-loop", "la-tool"))
    reply = bound.invoke([question])
    (call,) = reply.tool_calls
    same((call["id"], call["name"]), ("call_vendor_a1", "get_weather"))
    same(call["args"], {"city": "Zürich", "unit": "celsius"})
    result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
    same(text_of(bound.invoke([question, reply, result])), PLAIN)
    messages = seen("la-tool")[1]["messages"]
    same([message["role"] for message in messages], ["user", "assistant", "tool"])
    same(messages[2]["tool_call_id"], "call_vendor_a1")


@check("parallel tool calls stay separate, streamed or not")
def parallel() -> None:
    bound = model().bind_tools([get_weather])
    reply = bound.invoke(asking("two-tools", "la-two"))
    same([call["args"]["city"] for call in reply.tool_calls], ["Bern", "Oslo"])
    chunks = list(bound.stream(asking("two-tools", "la-two-stream")))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert isinstance(whole, AIMessageChunk)
    same(len(whole.tool_calls), 2)


@check("with_structured_output returns the model class")
def structured() -> None:
    bound = model().with_structured_output(Weather, method="json_schema")
    same(bound.invoke(asking("structured", "la-structured")), Weather(city="Zürich", degrees=21))
    sent = seen("la-structured")[0]["response_format"]
    same(sorted(sent["json_schema"]["schema"]["properties"]), ["city", "degrees"])


@check("images reach the model")
def image() -> None:
    data = b64encode((MEDIA / "tiny.png").read_bytes()).decode()
    content: Any = [
        {"type": "text", "text": asking("plain", "la-image")},
        {"type": "image", "base64": data, "mime_type": "image/png"},
    ]
    same(text_of(model().invoke([HumanMessage(content)])), PLAIN)
    sent = seen("la-image")[0]["messages"][0]["content"][1]
    same(sent["image_url"]["url"], f"data:image/png;base64,{data}")


@check("thinking can be sent back")
def thinking() -> None:
    thinker = model(max_tokens=2_000, thinking={"type": "enabled", "budget_tokens": 1_024})
    question = HumanMessage(asking("readable-thoughts", "la-thoughts"))
    chunks = list(thinker.stream([question]))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    same(text_of(whole), "42")
    kinds = [block["type"] for block in whole.content if isinstance(block, dict)]
    assert "thinking" in kinds, kinds
    thinker.invoke([question, whole, HumanMessage("Go on.")])
    same(len(seen("la-thoughts")), 2)


@check("get_num_tokens_from_messages counts without calling the model")
def counted() -> None:
    count = model().get_num_tokens_from_messages([HumanMessage(asking("plain", "la-count"))])
    assert 5 < count < 40, count
    same(seen("la-count"), [])


@check("an invalid key and an invalid field are errors of the SDK")
def errors() -> None:
    wrong: list[tuple[Any, Any]] = [
        (anthropic.AuthenticationError, {"api_key": SecretStr("sk-svc-wrong")}),
        (anthropic.BadRequestError, {"temperature": 7}),
    ]
    for kind, options in wrong:
        try:
            model(**options).invoke(asking("plain", "la-error"))
        except kind:
            continue
        raise AssertionError(f"{kind.__name__} was not raised")
    same(seen("la-error"), [])


run_all()
