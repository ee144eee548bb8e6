package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

var chatChecks = []check{
	{"chat: a non-streamed reply has text, finish reason, usage and model", chatWhole},
	{"chat: a streamed reply joins to the exact text, including multi-byte characters", chatStreamed},
	{"chat: include_usage adds a last chunk with usage", chatIncludeUsage},
	{"chat: the accumulator builds the complete reply, with the role sent once", chatAccumulator},
	{"chat: structured output matches its schema, streamed or not", chatStructured},
	{"chat: a tool call arrives, streamed or not, and its result is accepted", chatTool},
	{"chat: parallel tool calls stay separate, streamed or not", chatParallelTools},
	{"chat: n=2 returns two choices, streamed or not", chatTwoChoices},
	{"chat: logprobs arrive, streamed or not", chatLogprobs},
	{"chat: image parts reach the model", chatImage},
	{"chat: the developer role is accepted", chatDeveloper},
	{"chat: reasoning_content is kept, streamed or not", chatReasoning},
}

func chatParams(answer, tag string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    chatModel,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(asking(answer, tag))},
	}
}

func ask(params openai.ChatCompletionNewParams) *openai.ChatCompletion {
	client := newClient()
	return must(client.Chat.Completions.New(context.Background(), params))
}

func askStreamed(params openai.ChatCompletionNewParams) []openai.ChatCompletionChunk {
	client := newClient()
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	var chunks []openai.ChatCompletionChunk
	for stream.Next() {
		chunks = append(chunks, stream.Current())
	}
	must(true, stream.Err())
	demand(len(chunks) > 0, "the stream was empty")
	return chunks
}

func accumulate(params openai.ChatCompletionNewParams) openai.ChatCompletionAccumulator {
	var whole openai.ChatCompletionAccumulator
	for _, chunk := range askStreamed(params) {
		demand(whole.AddChunk(chunk), "the accumulator did not take a chunk")
	}
	return whole
}

func counts(usage openai.CompletionUsage) [3]int64 {
	return [3]int64{usage.PromptTokens, usage.CompletionTokens, usage.TotalTokens}
}

func chatWhole() {
	params := chatParams("plain", "go-whole")
	params.Temperature = openai.Float(0.5)
	params.MaxTokens = openai.Int(50)
	reply := ask(params)
	same(reply.Model, chatModel)
	same(len(reply.Choices), 1)
	same(reply.Choices[0].Message.Content, plainText)
	same(string(reply.Choices[0].Message.Role), "assistant")
	same(reply.Choices[0].FinishReason, "stop")
	same(counts(reply.Usage), [3]int64{19, 10, 29})
	same(seen("go-whole")[0]["temperature"], any(0.5))
}

func chatStreamed() {
	for answer, wanted := range map[string]string{"plain": streamedText, "multi-byte": multiByteText} {
		chunks := askStreamed(chatParams(answer, "go-streamed-"+answer))
		var text strings.Builder
		for at, chunk := range chunks {
			same(chunk.ID, chunks[0].ID)
			same(chunk.Model, chatModel)
			same(len(chunk.Choices), 1)
			text.WriteString(chunk.Choices[0].Delta.Content)
			same(chunk.Choices[0].FinishReason != "", at == len(chunks)-1)
			same(chunk.JSON.Usage.Valid(), false)
		}
		same(text.String(), wanted)
	}
}

func chatIncludeUsage() {
	params := chatParams("plain", "go-usage")
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	chunks := askStreamed(params)
	last := len(chunks) - 1
	for _, chunk := range chunks[:last] {
		same(chunk.JSON.Usage.Valid(), false)
	}
	same(len(chunks[last].Choices), 0)
	same(counts(chunks[last].Usage), [3]int64{19, 10, 29})
}

func chatAccumulator() {
	params := chatParams("role-again", "go-accumulator")
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	roles := 0
	var whole openai.ChatCompletionAccumulator
	for _, chunk := range askStreamed(params) {
		demand(whole.AddChunk(chunk), "the accumulator did not take a chunk")
		for _, choice := range chunk.Choices {
			if choice.Delta.Role != "" {
				roles++
			}
		}
	}
	same(roles, 1)
	same(whole.Choices[0].Message.Content, streamedText)
	same(string(whole.Choices[0].Message.Role), "assistant")
	same(whole.Choices[0].FinishReason, "stop")
	same(counts(whole.Usage), [3]int64{19, 10, 29})
}

type weather struct {
	City    string `json:"city"`
	Degrees int    `json:"degrees"`
}

func chatStructured() {
	params := chatParams("structured", "go-structured")
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name:   "weather",
				Strict: openai.Bool(true),
				Schema: map[string]any{"type": "object", "required": []string{"city", "degrees"}},
			},
		},
	}
	for _, text := range []string{
		ask(params).Choices[0].Message.Content,
		accumulate(params).Choices[0].Message.Content,
	} {
		var got weather
		must(true, json.Unmarshal([]byte(text), &got))
		same(got, weather{City: "Zürich", Degrees: 21})
	}
	format, _ := seen("go-structured")[0]["response_format"].(map[string]any)
	same(format["type"], any("json_schema"))
}

func weatherTool() openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather",
		Parameters: shared.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
		},
	})
}

func toolCalls(message openai.ChatCompletionMessage) [][3]string {
	var calls [][3]string
	for _, call := range message.ToolCalls {
		var arguments struct{ City string }
		must(true, json.Unmarshal([]byte(call.Function.Arguments), &arguments))
		calls = append(calls, [3]string{call.ID, call.Function.Name, arguments.City})
	}
	return calls
}

func chatTool() {
	wanted := [][3]string{{"call_vendor_a1", "get_weather", "Zürich"}}
	params := chatParams("tool", "go-tool")
	params.Tools = []openai.ChatCompletionToolUnionParam{weatherTool()}
	reply := ask(params)
	same(reply.Choices[0].FinishReason, "tool_calls")
	same(toolCalls(reply.Choices[0].Message), wanted)
	whole := accumulate(params)
	same(whole.Choices[0].FinishReason, "tool_calls")
	same(toolCalls(whole.Choices[0].Message), wanted)

	after := chatParams("plain", "go-tool-result")
	after.Tools = params.Tools
	after.Messages = append(after.Messages,
		reply.Choices[0].Message.ToParam(),
		openai.ToolMessage("21 degrees", reply.Choices[0].Message.ToolCalls[0].ID))
	same(ask(after).Choices[0].Message.Content, plainText)
	messages, _ := seen("go-tool-result")[0]["messages"].([]any)
	result, _ := messages[2].(map[string]any)
	same(result["content"], any("21 degrees"))
	same(result["tool_call_id"], any("call_vendor_a1"))
}

func chatParallelTools() {
	wanted := [][3]string{
		{"call_vendor_0", "get_weather", "Bern"},
		{"call_vendor_1", "get_weather", "Oslo"},
	}
	params := chatParams("two-tools", "go-two-tools")
	params.Tools = []openai.ChatCompletionToolUnionParam{weatherTool()}
	params.ParallelToolCalls = openai.Bool(true)
	same(toolCalls(ask(params).Choices[0].Message), wanted)
	same(toolCalls(accumulate(params).Choices[0].Message), wanted)
	same(seen("go-two-tools")[0]["parallel_tool_calls"], any(true))
}

func chatTwoChoices() {
	params := chatParams("two-choices", "go-n")
	params.N = openai.Int(2)
	for _, choices := range [][]openai.ChatCompletionChoice{ask(params).Choices, accumulate(params).Choices} {
		same(len(choices), 2)
		same([2]string{choices[0].Message.Content, choices[0].FinishReason}, [2]string{"Heads", "stop"})
		same([2]string{choices[1].Message.Content, choices[1].FinishReason}, [2]string{"Tails", "length"})
	}
	same(seen("go-n")[0]["n"], any(2.0))
}

func chatLogprobs() {
	params := chatParams("logprobs", "go-logprobs")
	params.Logprobs = openai.Bool(true)
	for _, choice := range []openai.ChatCompletionChoice{ask(params).Choices[0], accumulate(params).Choices[0]} {
		tokens := choice.Logprobs.Content
		same(len(tokens), 2)
		same(tokens[0].Token, "Hi")
		same(tokens[0].Logprob, -0.25)
		same(tokens[1].Token, "!")
	}
}

func dataURI(name, kind string) string {
	return "data:" + kind + ";base64," + base64Of(name)
}

func base64Of(name string) string {
	return base64.StdEncoding.EncodeToString(must(os.ReadFile(filepath.Join(setting("SVC_MEDIA_DIR"), name))))
}

func chatImage() {
	picture := dataURI("tiny.png", "image/png")
	params := chatParams("plain", "go-image")
	params.Messages = []openai.ChatCompletionMessageParamUnion{
		openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(asking("plain", "go-image")),
			openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: picture}),
		}),
	}
	same(ask(params).Choices[0].Message.Content, plainText)
	sent := string(must(json.Marshal(seen("go-image")[0]["messages"])))
	demand(strings.Contains(sent, picture), "the picture did not arrive: "+sent)
}

func chatDeveloper() {
	params := chatParams("plain", "go-developer")
	params.Messages = append([]openai.ChatCompletionMessageParamUnion{openai.DeveloperMessage("Be short.")}, params.Messages...)
	same(ask(params).Choices[0].Message.Content, plainText)
	messages, _ := seen("go-developer")[0]["messages"].([]any)
	first, _ := messages[0].(map[string]any)
	same(first["content"], any("Be short."))
}

func chatReasoning() {
	reply := ask(chatParams("reasoning", "go-reasoning"))
	same(extra(reply.Choices[0].Message.JSON.ExtraFields["reasoning_content"].Raw()), "Six times seven, so forty-two.")
	same(reply.Choices[0].Message.Content, "42")
	var thought, said string
	for _, chunk := range askStreamed(chatParams("reasoning", "go-reasoning-stream")) {
		delta := chunk.Choices[0].Delta
		thought += extra(delta.JSON.ExtraFields["reasoning_content"].Raw())
		said += delta.Content
	}
	same([2]string{thought, said}, [2]string{"Six times seven.", "42"})
}

// extra is a text that the client has no field for; empty where it is not there.
func extra(raw string) string {
	var text string
	if raw != "" {
		must(true, json.Unmarshal([]byte(raw), &text))
	}
	return text
}
