"""Every check of langchain-openai."""

import asyncio
import json
import os
from base64 import b64encode
from typing import Any

import openai
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, Field, SecretStr

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    ENGINE_KEY,
    ENGINE_URL,
    MEDIA,
    MULTI_BYTE,
    PLAIN,
    STREAMED,
    TEXT_EMBEDDING,
    asking,
    check,
    go_on,
    run_all,
    same,
    seen,
    was_broken_off,
)


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int = Field(description="in Celsius")


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"21 degrees in {city}"


def model(**options: Any) -> ChatOpenAI:
    options = {"base_url": BASE_URL, "api_key": SecretStr(API_KEY), "max_retries": 0, **options}
    return ChatOpenAI(model=CHAT, **options)


def embeddings(**options: Any) -> OpenAIEmbeddings:
    key = SecretStr(API_KEY)
    return OpenAIEmbeddings(model=TEXT_EMBEDDING, base_url=BASE_URL, api_key=key, **options)


@check("chat: invoke returns text, usage and finish reason")
def invoke() -> None:
    messages = [SystemMessage("Be short."), HumanMessage(asking("plain", "lc-invoke"))]
    reply = model(max_tokens=50, temperature=0).invoke(messages)
    same(reply.content, PLAIN)
    usage: Any = reply.usage_metadata
    same((usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]), (19, 10, 29))
    same(reply.response_metadata["finish_reason"], "stop")
    same(reply.response_metadata["model_name"], CHAT)
    sent = seen("lc-invoke")[0]
    same([message["role"] for message in sent["messages"]], ["system", "user"])
    same(sent.get("max_completion_tokens", sent.get("max_tokens")), 50)


@check("chat: the stream joins to the exact text, with usage at the end")
def stream() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        chunks = list(model(stream_usage=True).stream(asking(answer, f"lc-stream-{answer}")))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        same(whole.content, wanted)
        same(isinstance(whole, AIMessageChunk), True)
        same(whole.response_metadata["finish_reason"], "stop")
        usage: Any = whole.usage_metadata
        same((usage["input_tokens"], usage["total_tokens"]), (19, 29))


@check("chat: ainvoke and astream return the same")
async def asynchronous() -> None:
    reply = await model().ainvoke(asking("plain", "lc-ainvoke"))
    same(reply.content, PLAIN)
    text = ""
    async for chunk in model().astream(asking("multi-byte", "lc-astream")):
        text += str(chunk.content)
    same(text, MULTI_BYTE)


@check("chat: bind_tools calls a tool and sends its result back")
def tools() -> None:
    bound = model().bind_tools([get_weather])
    question = HumanMessage(asking("tool", "lc-tool"))
    reply = bound.invoke([question])
    same(len(reply.tool_calls), 1)
    call = reply.tool_calls[0]
    same((call["id"], call["name"]), ("call_vendor_a1", "get_weather"))
    same(call["args"], {"city": "Zürich", "unit": "celsius"})
    answered = get_weather.invoke({"city": call["args"]["city"]})
    last = HumanMessage(asking("plain", "lc-tool-result"))
    result = ToolMessage(answered, tool_call_id=call["id"])
    bound.invoke([HumanMessage("Weather?"), reply, result, last])
    sent = seen("lc-tool-result")[0]["messages"]
    same([message["role"] for message in sent], ["user", "assistant", "tool", "user"])
    same((sent[2]["tool_call_id"], sent[2]["content"]), (call["id"], "21 degrees in Zürich"))
    arguments = json.loads(sent[1]["tool_calls"][0]["function"]["arguments"])
    same(arguments["city"], "Zürich")


@check("chat: parallel tool calls stay separate, streamed or not")
def parallel_tools() -> None:
    wanted = [("call_vendor_0", {"city": "Bern"}), ("call_vendor_1", {"city": "Oslo"})]
    bound = model().bind_tools([get_weather], parallel_tool_calls=True)
    reply = bound.invoke(asking("two-tools", "lc-two"))
    same([(call["id"], call["args"]) for call in reply.tool_calls], wanted)
    whole: Any = None
    for chunk in bound.stream(asking("two-tools", "lc-two-stream")):
        whole = chunk if whole is None else whole + chunk
    same([(call["id"], call["args"]) for call in whole.tool_calls], wanted)


@check("chat: with_structured_output fills the model class, with a schema and in JSON mode")
def structured() -> None:
    wanted = Weather(city="Zürich", degrees=21)
    for method in ("json_schema", "json_mode"):
        tag = f"lc-{method.replace('_', '-')}"
        way: Any = method
        asked = model().with_structured_output(Weather, method=way)
        same(asked.invoke(asking("structured", tag)), wanted)
        sent = seen(tag)[0]["response_format"]["type"]
        same(sent, "json_schema" if method == "json_schema" else "json_object")


@check("chat: image parts and n=2 reach the model")
def image_and_two() -> None:
    picture = f"data:image/png;base64,{b64encode((MEDIA / 'tiny.png').read_bytes()).decode()}"
    content: Any = [
        {"type": "text", "text": asking("plain", "lc-image")},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    same(model().invoke([HumanMessage(content=content)]).content, PLAIN)
    same(seen("lc-image")[0]["messages"][0]["content"][1]["image_url"]["url"], picture)
    result = model(n=2).generate([[HumanMessage(asking("two-choices", "lc-n"))]])
    same([choice.text for choice in result.generations[0]], ["Heads", "Tails"])


@check("chat: logprobs arrive")
def logprobs() -> None:
    reply = model(logprobs=True).invoke(asking("logprobs", "lc-logprobs"))
    tokens = reply.response_metadata["logprobs"]["content"]
    same([(token["token"], token["logprob"]) for token in tokens], [("Hi", -0.25), ("!", -0.5)])


@check("embeddings: with its default settings, as cl100k token ids")
def token_ids() -> None:
    vectors = embeddings().embed_documents(["hello world", "Grüße"])
    same([(len(vector), vector[0]) for vector in vectors], [(3072, 1.0), (3072, 2.0)])
    same(seen()[-1]["input"], [[15339, 1917], [6600, 2448, 24352]])
    assert os.environ["TIKTOKEN_CACHE_DIR"], "the token table is not ours"


@check("embeddings: as text, when its length check is off")
def as_text() -> None:
    plain = embeddings(check_embedding_ctx_length=False, dimensions=768)
    text = asking("plain", "lc-embed")
    vectors = plain.embed_documents([text, "second", "third"])
    same([vector[0] for vector in vectors], [1.0, 2.0, 3.0])
    same({len(vector) for vector in vectors}, {768})
    same(seen("lc-embed")[0]["input"], [text, "second", "third"])
    same(len(plain.embed_query("one")), 768)


@check("errors: the same types as the OpenAI client's")
def errors() -> None:
    wrong: list[tuple[type[Exception], ChatOpenAI, str]] = [
        (openai.AuthenticationError, model(api_key=SecretStr("sk-svc-wrong")), "plain"),
        (openai.BadRequestError, model(temperature=3), "plain"),
        (openai.RateLimitError, model(), "limited"),
    ]
    for kind, asked, answer in wrong:
        try:
            asked.invoke(asking(answer, "lc-errors"))
        except openai.APIStatusError as error:
            same(isinstance(error, kind), True)
        else:
            raise AssertionError(f"{kind.__name__} was not raised")


@check("retries: a 429 is retried and succeeds")
def retried() -> None:
    reply = model(max_retries=2).invoke(asking("limited-once", "lc-retry"))
    same(reply.content, PLAIN)
    same(len(seen("lc-retry")), 2)


@check("streams: a failure in the middle raises")
def breaks() -> None:
    text = ""
    try:
        for chunk in model().stream(asking("broken", "lc-broken")):
            text += str(chunk.content)
            if text == "Hello!":
                go_on("lc-broken")
    except openai.APIError as error:
        same(error.code, "upstream_error")
    else:
        raise AssertionError(f"it looked like a good end after {text!r}")
    assert text.startswith("Hello!"), text


@check("streams: disconnecting stops the upstream")
async def leaves() -> None:
    chunks: Any = model().astream(asking("hang", "lc-leave"))
    async for chunk in chunks:
        if chunk.content:
            break
    await chunks.aclose()
    # In a thread, since LangChain closes the inner stream only when the loop is free.
    same(await asyncio.to_thread(was_broken_off, "lc-leave"), True)


@check("embedded models: chat and embeddings")
def embedded() -> None:
    key = SecretStr(ENGINE_KEY)
    local = model(
        base_url=ENGINE_URL,
        api_key=key,
        max_retries=20,
        max_tokens=40,
        temperature=0,
        timeout=300,
    )
    reply = local.invoke("What is the capital of France? Answer in one word.")
    assert "Paris" in str(reply.content), reply.content
    embedder = OpenAIEmbeddings(
        model=TEXT_EMBEDDING,
        base_url=ENGINE_URL,
        api_key=key,
        max_retries=20,
        check_embedding_ctx_length=False,
    )
    same(len(embedder.embed_query("A cat sleeps.")), 3072)


@check("responses: invoke returns text, usage and status")
def responses_invoke() -> None:
    one = model(use_responses_api=True, max_tokens=50)
    reply = one.invoke([SystemMessage("Be short."), HumanMessage(asking("plain", "lc-r-invoke"))])
    same(reply.text, PLAIN)
    usage: Any = reply.usage_metadata
    same((usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]), (19, 10, 29))
    same(reply.response_metadata["status"], "completed")
    roles = [message["role"] for message in seen("lc-r-invoke")[0]["messages"]]
    same(roles, ["system", "user"])


@check("responses: the stream joins to the exact text, with usage at the end")
def responses_stream() -> None:
    for answer, wanted in {"plain": STREAMED, "multi-byte": MULTI_BYTE}.items():
        chunks = list(model(use_responses_api=True).stream(asking(answer, f"lc-r-{answer}")))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        same(whole.text, wanted)
        usage: Any = whole.usage_metadata
        same((usage["input_tokens"], usage["total_tokens"]), (19, 29))


@check("responses: bind_tools calls a tool and sends its result back")
def responses_tools() -> None:
    bound = model(use_responses_api=True).bind_tools([get_weather])
    question = HumanMessage(asking("tool-loop", "lc-r-tool"))
    reply = bound.invoke([question])
    (call,) = reply.tool_calls
    same((call["id"], call["args"]["city"]), ("call_vendor_a1", "Zürich"))
    result = ToolMessage("21 degrees", tool_call_id=call["id"])
    same(bound.invoke([question, reply, result]).text, PLAIN)
    messages = seen("lc-r-tool")[1]["messages"]
    same([message["role"] for message in messages], ["user", "assistant", "tool"])
    same(messages[2]["content"], "21 degrees")


@check("responses: structured output is parsed into the model class")
def responses_structured() -> None:
    bound = model(use_responses_api=True).with_structured_output(Weather)
    same(bound.invoke(asking("structured", "lc-r-parsed")), Weather(city="Zürich", degrees=21))


@check("responses: reasoning and images pass in both directions")
def responses_content() -> None:
    picture = b64encode((MEDIA / "tiny.png").read_bytes()).decode()
    content: Any = [
        {"type": "text", "text": asking("reasoning", "lc-r-content")},
        {"type": "image", "base64": picture, "mime_type": "image/png"},
    ]
    one = model(use_responses_api=True, reasoning={"summary": "auto"})
    reply = one.invoke([HumanMessage(content)])
    same(reply.text, "42")
    kinds = [block["type"] for block in reply.content_blocks]
    same(kinds, ["reasoning", "text"])
    assert picture in json.dumps(seen("lc-r-content")[0]), "the image did not arrive"
    one.invoke([HumanMessage(content), reply, HumanMessage("Go on.")])
    same(seen("lc-r-content")[1]["messages"][1]["content"], "42")


run_all()
