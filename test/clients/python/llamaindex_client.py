"""Every check of llama-index-llms-openai-like: on completions, its default, and on chat."""

import json
from typing import Any

import openai
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from checks import (
    API_KEY,
    BASE_URL,
    CHAT,
    COMPLETED,
    PLAIN,
    STREAMED,
    asking,
    check,
    run_all,
    same,
    seen,
)


def model(**options: Any) -> OpenAILike:
    options = {"api_base": BASE_URL, "api_key": API_KEY, "max_retries": 0, **options}
    return OpenAILike(model=CHAT, context_window=8_192, max_tokens=50, **options)


def on_chat(**options: Any) -> OpenAILike:
    return model(is_chat_model=True, is_function_calling_model=True, **options)


@check("completions: complete returns the text")
def complete() -> None:
    reply = model().complete(asking("plain", "li-complete"))
    same(reply.text, COMPLETED)
    sent = seen("li-complete")[0]
    same((sent["prompt"], sent["max_tokens"]), (asking("plain", "li-complete"), 50))


@check("completions: stream_complete joins to the exact text")
def stream_complete() -> None:
    chunks = list(model().stream_complete(asking("plain", "li-stream")))
    same("".join(chunk.delta or "" for chunk in chunks), COMPLETED)
    same(chunks[-1].text, COMPLETED)


@check("completions: acomplete returns the same")
async def complete_asynchronously() -> None:
    same((await model().acomplete(asking("plain", "li-async"))).text, COMPLETED)


@check("completions: chat is sent as one prompt")
def chat_as_prompt() -> None:
    reply = model().chat([ChatMessage(role="user", content=asking("plain", "li-prompt"))])
    same(reply.message.content, COMPLETED)
    assert isinstance(seen("li-prompt")[0]["prompt"], str)


@check("completions: an invalid key is an error of the SDK")
def wrong_key() -> None:
    try:
        model(api_key="sk-svc-wrong").complete(asking("plain", "li-key"))
    except openai.AuthenticationError as error:
        same(error.code, "invalid_api_key")
    else:
        raise AssertionError("it was accepted")


@check("chat: chat and stream_chat return the text")
def chat() -> None:
    messages = [ChatMessage(role="user", content=asking("plain", "li-chat"))]
    same(on_chat().chat(messages).message.content, PLAIN)
    chunks = list(on_chat().stream_chat(messages))
    same("".join(chunk.delta or "" for chunk in chunks), STREAMED)


@check("chat: a tool is called with its arguments")
def tool() -> None:
    def get_weather(city: str, unit: str) -> str:
        """The weather of a city."""
        return f"21 degrees {unit} in {city}"

    known = FunctionTool.from_defaults(fn=get_weather)
    llm = on_chat()
    reply = llm.chat_with_tools([known], user_msg=asking("tool", "li-tool"))
    (call,) = llm.get_tool_calls_from_response(reply)
    same((call.tool_id, call.tool_name), ("call_vendor_a1", "get_weather"))
    same(call.tool_kwargs, {"city": "Zürich", "unit": "celsius"})
    result = llm.predict_and_call([known], user_msg=asking("tool", "li-call"))
    same(json.loads(json.dumps(result.response)), "21 degrees celsius in Zürich")


run_all()
