"""Every check of openai-agents, the OpenAI Agents SDK, on Responses and on chat completions."""

from typing import Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI, BadRequestError
from pydantic import BaseModel

from checks import API_KEY, BASE_URL, CHAT, PLAIN, STREAMED, asking, check, run_all, same, seen

# It would send traces to the vendor.
set_tracing_disabled(True)
client = AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


class Weather(BaseModel):
    city: str
    degrees: int


def weather_tool(asked: list[str]) -> Any:
    @function_tool
    def get_weather(city: str, unit: str) -> str:
        """The weather of a city."""
        asked.append(f"{city} {unit}")
        return "21 degrees"

    return get_weather


def agent(**options: Any) -> Agent[Any]:
    model = OpenAIResponsesModel(model=CHAT, openai_client=client)
    return Agent(**{"name": "Helper", "instructions": "Be short.", "model": model, **options})


@check("responses: an agent answers, with usage")
async def answers() -> None:
    result = await Runner.run(agent(), asking("plain", "oa-plain"))
    same(result.final_output, PLAIN)
    usage = result.context_wrapper.usage
    same((usage.requests, usage.input_tokens, usage.output_tokens), (1, 19, 10))
    same(seen("oa-plain")[0]["messages"][0]["content"], "Be short.")


@check("responses: an agent runs a tool and goes on with its result")
async def runs_tool() -> None:
    asked: list[str] = []
    result = await Runner.run(agent(tools=[weather_tool(asked)]), asking("tool-loop", "oa-tool"))
    same((result.final_output, asked), (PLAIN, ["Zürich celsius"]))
    messages = seen("oa-tool")[1]["messages"]
    same(messages[-1]["tool_call_id"], "call_vendor_a1")
    same(messages[-1]["content"], "21 degrees")
    same(result.context_wrapper.usage.requests, 2)


@check("responses: a streamed agent runs a tool and streams the text")
async def streams_tool() -> None:
    asked: list[str] = []
    run = Runner.run_streamed(
        agent(tools=[weather_tool(asked)]), asking("tool-loop", "oa-tool-stream")
    )
    text = ""
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            text += event.data.delta
    same((text, run.final_output, asked), (STREAMED, STREAMED, ["Zürich celsius"]))


@check("responses: parallel tool calls run, and all results go back")
async def runs_parallel() -> None:
    asked: list[str] = []

    @function_tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return f"21 degrees in {city}"

    result = await Runner.run(agent(tools=[get_weather]), asking("two-tools-loop", "oa-two"))
    same((result.final_output, sorted(asked)), (PLAIN, ["Bern", "Oslo"]))
    results = [message for message in seen("oa-two")[1]["messages"] if message["role"] == "tool"]
    same([message["tool_call_id"] for message in results], ["call_vendor_0", "call_vendor_1"])


@check("responses: an agent returns structured output")
async def structured() -> None:
    result = await Runner.run(agent(output_type=Weather), asking("structured", "oa-structured"))
    same(result.final_output, Weather(city="Zürich", degrees=21))


@check("responses: a conversation goes on with what the agent returned")
async def goes_on() -> None:
    first = await Runner.run(agent(), asking("plain", "oa-turns"))
    more: Any = [*first.to_input_list(), {"role": "user", "content": "And now?"}]
    second = await Runner.run(agent(), more)
    same(second.final_output, PLAIN)
    messages = seen("oa-turns")[1]["messages"]
    roles = [message["role"] for message in messages if message["role"] != "system"]
    same(roles, ["user", "assistant", "user"])


@check("responses: model settings reach the model, and an invalid one is an error")
async def settings() -> None:
    await Runner.run(
        agent(model_settings=ModelSettings(temperature=0.5, max_tokens=50)),
        asking("plain", "oa-settings"),
    )
    same(seen("oa-settings")[0]["temperature"], 0.5)
    try:
        await Runner.run(
            agent(model_settings=ModelSettings(temperature=7)), asking("plain", "oa-invalid")
        )
    except BadRequestError as error:
        same(error.param, "temperature")
    else:
        raise AssertionError("it was accepted")


@check("chat: an agent on chat completions runs a tool, streamed or not")
async def on_chat() -> None:
    asked: list[str] = []
    model = OpenAIChatCompletionsModel(model=CHAT, openai_client=client)
    one = agent(model=model, tools=[weather_tool(asked)])
    result = await Runner.run(one, asking("tool-loop", "oa-chat"))
    same(result.final_output, PLAIN)
    run = Runner.run_streamed(one, asking("tool-loop", "oa-chat-stream"))
    async for _ in run.stream_events():
        pass
    same((run.final_output, asked), (STREAMED, ["Zürich celsius"] * 2))


run_all()
