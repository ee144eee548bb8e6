package main

import (
	"context"
	"errors"
	"io"
	"strings"

	sashabaranov "github.com/sashabaranov/go-openai"
)

var goOpenaiChecks = []check{
	{"completions: a reply has text, finish reason and usage", oldWhole},
	{"completions: a stream joins to the exact text", oldStreamed},
	{"chat: a reply has text and usage", oldChat},
	{"chat: a stream joins to the exact text", oldChatStreamed},
	{"errors: 400 names the invalid field", oldInvalid},
}

func newGoOpenai() *sashabaranov.Client {
	config := sashabaranov.DefaultConfig(setting("SVC_API_KEY"))
	config.BaseURL = setting("SVC_BASE_URL")
	return sashabaranov.NewClientWithConfig(config)
}

func oldRequest(tag string) sashabaranov.CompletionRequest {
	return sashabaranov.CompletionRequest{Model: chatModel, Prompt: asking("plain", tag), MaxTokens: 50}
}

func oldChatRequest(answer, tag string) sashabaranov.ChatCompletionRequest {
	return sashabaranov.ChatCompletionRequest{
		Model:    chatModel,
		Messages: []sashabaranov.ChatCompletionMessage{{Role: "user", Content: asking(answer, tag)}},
	}
}

func oldWhole() {
	reply := must(newGoOpenai().CreateCompletion(context.Background(), oldRequest("go-old-whole")))
	same(reply.Model, chatModel)
	same(reply.Choices[0].Text, completionReply)
	same(reply.Choices[0].FinishReason, "stop")
	same(reply.Usage.TotalTokens, 11)
	same(seen("go-old-whole")[0]["max_tokens"], any(50.0))
}

func oldStreamed() {
	stream := must(newGoOpenai().CreateCompletionStream(context.Background(), oldRequest("go-old-stream")))
	defer stream.Close()
	var text strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(true, err)
		for _, choice := range chunk.Choices {
			text.WriteString(choice.Text)
		}
	}
	same(text.String(), completionReply)
}

func oldChat() {
	request := oldChatRequest("plain", "go-old-chat")
	reply := must(newGoOpenai().CreateChatCompletion(context.Background(), request))
	same(reply.Choices[0].Message.Content, plainText)
	same(reply.Usage.TotalTokens, 29)
}

func oldChatStreamed() {
	request := oldChatRequest("multi-byte", "go-old-chat-stream")
	stream := must(newGoOpenai().CreateChatCompletionStream(context.Background(), request))
	defer stream.Close()
	var text strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(true, err)
		for _, choice := range chunk.Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	same(text.String(), multiByteText)
}

func oldInvalid() {
	request := oldRequest("go-old-400")
	request.Temperature = 7
	_, err := newGoOpenai().CreateCompletion(context.Background(), request)
	var refused *sashabaranov.APIError
	demand(errors.As(err, &refused), "it was accepted")
	same(refused.HTTPStatusCode, 400)
	demand(refused.Param != nil && *refused.Param == "temperature", refused.Message)
}
