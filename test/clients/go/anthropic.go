package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

var anthropicChecks = []check{
	{"messages: a non-streamed reply has text, stop reason, usage and model", messagesWhole},
	{"messages: a stream accumulates to the exact text, with usage", messagesStreamed},
	{"messages: a tool call arrives, streamed or not, and its result is accepted", messagesTool},
	{"messages: parallel tool calls stay separate", messagesParallel},
	{"messages: count_tokens counts without calling the model", messagesCounted},
	{"models: the list answers in the dialect of the SDK", messagesModels},
	{"errors: each has Anthropic's error type", messagesErrors},
}

func newAnthropic(options ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(setting("SVC_BASE_URL"), "/v1")),
		option.WithAPIKey(setting("SVC_API_KEY")),
		option.WithMaxRetries(0),
	}, options...)...)
}

func messageParams(answer, tag string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     chatModel,
		MaxTokens: 100,
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock(asking(answer, tag))),
		},
	}
}

func withWeather(params anthropic.MessageNewParams) anthropic.MessageNewParams {
	schema := anthropic.ToolInputSchemaParam{
		Properties: map[string]any{"city": map[string]any{"type": "string"}},
	}
	params.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(schema, "get_weather")}
	return params
}

func tryMessage(params anthropic.MessageNewParams, options ...option.RequestOption) (*anthropic.Message, error) {
	client := newAnthropic(options...)
	return client.Messages.New(context.Background(), params)
}

func messageStreamed(params anthropic.MessageNewParams) anthropic.Message {
	client := newAnthropic()
	stream := client.Messages.NewStreaming(context.Background(), params)
	var whole anthropic.Message
	for stream.Next() {
		must(true, whole.Accumulate(stream.Current()))
	}
	must(true, stream.Err())
	return whole
}

func textsOf(message anthropic.Message) string {
	var text strings.Builder
	for _, block := range message.Content {
		text.WriteString(block.Text)
	}
	return text.String()
}

func usesOf(message anthropic.Message) []anthropic.ToolUseBlock {
	var uses []anthropic.ToolUseBlock
	for _, block := range message.Content {
		if block.Type == "tool_use" {
			uses = append(uses, block.AsToolUse())
		}
	}
	return uses
}

func messagesWhole() {
	params := messageParams("plain", "go-m-whole")
	params.System = []anthropic.TextBlockParam{{Text: "Be short."}}
	params.Temperature = anthropic.Float(0.5)
	reply := must(tryMessage(params))
	same(string(reply.Model), chatModel)
	same(textsOf(*reply), plainText)
	same(string(reply.StopReason), "end_turn")
	// In this dialect the input leaves out what was read from the cache.
	same([2]int64{reply.Usage.InputTokens, reply.Usage.CacheReadInputTokens}, [2]int64{11, 8})
	same(reply.Usage.OutputTokens, int64(10))
	same(seen("go-m-whole")[0]["temperature"], any(0.5))
}

func messagesStreamed() {
	for answer, wanted := range map[string]string{"plain": streamedText, "multi-byte": multiByteText} {
		whole := messageStreamed(messageParams(answer, "go-m-"+answer))
		same(textsOf(whole), wanted)
		same(string(whole.StopReason), "end_turn")
		same(whole.Usage.OutputTokens, int64(10))
	}
}

func messagesTool() {
	uses := usesOf(messageStreamed(withWeather(messageParams("tool", "go-m-tool-stream"))))
	same(len(uses), 1)
	same(uses[0].ID, "call_vendor_a1")

	params := withWeather(messageParams("tool-loop", "go-m-tool"))
	reply := must(tryMessage(params))
	same(string(reply.StopReason), "tool_use")
	uses = usesOf(*reply)
	same(len(uses), 1)
	var input map[string]string
	must(true, json.Unmarshal(uses[0].Input, &input))
	same(input["city"], "Zürich")
	params.Messages = append(params.Messages, reply.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(uses[0].ID, "21 degrees", false)))
	same(textsOf(*must(tryMessage(params))), plainText)
	messages := seen("go-m-tool")[1]["messages"].([]any)
	result := messages[len(messages)-1].(map[string]any)
	same(result["tool_call_id"], any("call_vendor_a1"))
	// The SDK sends blocks, which may arrive as parts.
	demand(strings.Contains(fmt.Sprint(result["content"]), "21 degrees"), result["content"])
}

func messagesParallel() {
	uses := usesOf(*must(tryMessage(withWeather(messageParams("two-tools", "go-m-two")))))
	same(len(uses), 2)
	same(uses[0].ID, "call_vendor_0")
	same(uses[1].ID, "call_vendor_1")
}

func messagesCounted() {
	client := newAnthropic()
	params := messageParams("plain", "go-m-count")
	count := must(client.Messages.CountTokens(context.Background(), anthropic.MessageCountTokensParams{
		Model: params.Model, Messages: params.Messages,
	}))
	demand(count.InputTokens > 5 && count.InputTokens < 40, count.InputTokens)
	same(len(seen("go-m-count")), 0)
}

func messagesModels() {
	client := newAnthropic()
	pages := client.Models.ListAutoPaging(context.Background(), anthropic.ModelListParams{Limit: anthropic.Int(3)})
	found := false
	for pages.Next() {
		found = found || pages.Current().ID == chatModel
	}
	must(true, pages.Err())
	demand(found, "the model is not in the list")
}

func messagesErrors() {
	wrong := messageParams("plain", "go-m-errors")
	wrong.Temperature = anthropic.Float(7)
	for wanted, try := range map[string]func() error{
		"invalid_request_error": func() error {
			_, err := tryMessage(wrong)
			return err
		},
		"authentication_error": func() error {
			_, err := tryMessage(messageParams("plain", "go-m-errors"), option.WithAPIKey("sk-svc-wrong"))
			return err
		},
		"rate_limit_error": func() error {
			_, err := tryMessage(messageParams("limited", "go-m-limited"))
			return err
		},
	} {
		var refused *anthropic.Error
		demand(errors.As(try(), &refused), wanted+" did not come")
		demand(strings.Contains(refused.RawJSON(), `"type":"`+wanted+`"`), refused.RawJSON())
	}
	same(len(seen("go-m-errors")), 0)
}
