package main

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3"
)

var completionChecks = []check{
	{"completions: a legacy completion arrives, streamed or not", completionText},
}

func completionText() {
	client := newClient()
	params := openai.CompletionNewParams{
		Model:     openai.CompletionNewParamsModel(chatModel),
		Prompt:    openai.CompletionNewParamsPromptUnion{OfString: openai.String(asking("plain", "go-completion"))},
		MaxTokens: openai.Int(20),
	}
	reply := must(client.Completions.New(context.Background(), params))
	same(reply.Model, chatModel)
	same(len(reply.Choices), 1)
	same(reply.Choices[0].Text, completionReply)
	same(string(reply.Choices[0].FinishReason), "stop")
	same(counts(reply.Usage), [3]int64{5, 6, 11})
	same(seen("go-completion")[0]["max_tokens"], any(float64(20)))

	stream := client.Completions.NewStreaming(context.Background(), params)
	var text strings.Builder
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text.WriteString(choice.Text)
		}
	}
	must(true, stream.Err())
	same(text.String(), completionReply)
}
