package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

var responseChecks = []check{
	{"responses: a non-streamed reply has text, status, usage and model", responsesWhole},
	{"responses: a stream has numbered events and joins to the exact text", responsesStreamed},
	{"responses: a tool call arrives, streamed or not, and its result is accepted", responsesTool},
	{"responses: parallel tool calls stay separate", responsesParallel},
	{"responses: 400 names the invalid field", responsesInvalid},
}

func responseParams(answer, tag string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: chatModel,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(asking(answer, tag))},
	}
}

func weatherResponseTool() []responses.ToolUnionParam {
	return []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
		Name: "get_weather",
		Parameters: map[string]any{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
		},
		Strict: openai.Bool(false),
	}}}
}

func respond(params responses.ResponseNewParams) *responses.Response {
	client := newClient()
	return must(client.Responses.New(context.Background(), params))
}

func responseEvents(params responses.ResponseNewParams) []responses.ResponseStreamEventUnion {
	client := newClient()
	stream := client.Responses.NewStreaming(context.Background(), params)
	var events []responses.ResponseStreamEventUnion
	for stream.Next() {
		events = append(events, stream.Current())
	}
	must(true, stream.Err())
	demand(len(events) > 0, "the stream was empty")
	return events
}

func responsesWhole() {
	params := responseParams("plain", "go-r-whole")
	params.Instructions = openai.String("Be short.")
	params.Temperature = openai.Float(0.5)
	reply := respond(params)
	same(reply.Model, chatModel)
	same(string(reply.Status), "completed")
	same(reply.OutputText(), plainText)
	same([3]int64{reply.Usage.InputTokens, reply.Usage.OutputTokens, reply.Usage.TotalTokens}, [3]int64{19, 10, 29})
	same(seen("go-r-whole")[0]["temperature"], any(0.5))
}

func responsesStreamed() {
	for answer, wanted := range map[string]string{"plain": streamedText, "multi-byte": multiByteText} {
		events := responseEvents(responseParams(answer, "go-r-"+answer))
		var text strings.Builder
		for at, event := range events {
			same(event.SequenceNumber, int64(at))
			if event.Type == "response.output_text.delta" {
				text.WriteString(event.Delta)
			}
		}
		same(text.String(), wanted)
		last := events[len(events)-1]
		same(last.Type, "response.completed")
		same(last.Response.OutputText(), wanted)
		same(last.Response.Usage.TotalTokens, int64(29))
	}
}

func responsesTool() {
	params := responseParams("tool", "go-r-tool-stream")
	params.Tools = weatherResponseTool()
	events := responseEvents(params)
	called := toolCallsIn(events[len(events)-1].Response.Output)
	same(len(called), 1)
	same(called[0].CallID, "call_vendor_a1")

	params = responseParams("tool-loop", "go-r-tool")
	params.Tools = weatherResponseTool()
	called = toolCallsIn(respond(params).Output)
	same(len(called), 1)
	var arguments map[string]string
	must(true, json.Unmarshal([]byte(called[0].Arguments), &arguments))
	same(arguments["city"], "Zürich")
	result := responses.ResponseInputItemParamOfFunctionCallOutput("21 degrees")
	result.OfFunctionCallOutput.CallID = openai.String(called[0].CallID)
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(asking("tool-loop", "go-r-tool"), "user"),
		responses.ResponseInputItemParamOfFunctionCall(called[0].Arguments, called[0].CallID, called[0].Name),
		result,
	}}
	same(respond(params).OutputText(), plainText)
	messages := seen("go-r-tool")[1]["messages"].([]any)
	last := messages[len(messages)-1].(map[string]any)
	same(last["tool_call_id"], any("call_vendor_a1"))
	same(last["content"], any("21 degrees"))
}

func toolCallsIn(items []responses.ResponseOutputItemUnion) []responses.ResponseFunctionToolCall {
	var calls []responses.ResponseFunctionToolCall
	for _, item := range items {
		if item.Type == "function_call" {
			calls = append(calls, item.AsFunctionCall())
		}
	}
	return calls
}

func responsesParallel() {
	params := responseParams("two-tools", "go-r-two")
	params.Tools = weatherResponseTool()
	calls := toolCallsIn(respond(params).Output)
	same(len(calls), 2)
	same(calls[0].CallID, "call_vendor_0")
	same(calls[1].CallID, "call_vendor_1")
}

func responsesInvalid() {
	client := newClient()
	params := responseParams("plain", "go-r-400")
	params.Temperature = openai.Float(7)
	_, err := client.Responses.New(context.Background(), params)
	var refused *openai.Error
	demand(errors.As(err, &refused), "it was accepted")
	same(refused.StatusCode, 400)
	same(refused.Param, "temperature")
	same(len(seen("go-r-400")), 0)
}
