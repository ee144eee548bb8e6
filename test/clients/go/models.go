package main

import (
	"context"
	"io"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var modelChecks = []check{
	{"models: the list contains exactly the models that the key may call", modelsListed},
	{"models: a model is found by its id, also if it contains a slash", modelsRetrieved},
	{"embedded models: chat, embeddings and speech", modelsEmbedded},
}

func listedWith(client openai.Client) map[string]openai.Model {
	models := map[string]openai.Model{}
	pages := client.Models.ListAutoPaging(context.Background())
	for pages.Next() {
		models[pages.Current().ID] = pages.Current()
	}
	must(true, pages.Err())
	return models
}

func modelsListed() {
	models := listedWith(newClient())
	for _, name := range []string{chatModel, textEmbeddingModel, mediaEmbeddingModel, speechModel, "vendor/with-slash"} {
		same(models[name].ID, name)
	}
	demand(models[chatModel].Created > 0 && models[chatModel].OwnedBy != "", models[chatModel].RawJSON())
	for _, name := range []string{"unpriced", "unrouted"} {
		same(models[name].ID, "")
	}
	narrow := listedWith(newClient(option.WithAPIKey(setting("SVC_NARROW_KEY"))))
	same(len(narrow), 1)
	same(narrow[textEmbeddingModel].ID, textEmbeddingModel)
}

func modelsRetrieved() {
	client := newClient()
	for _, name := range []string{chatModel, "vendor/with-slash"} {
		same(must(client.Models.Get(context.Background(), name)).ID, name)
	}
}

func modelsEmbedded() {
	client := newClient(
		option.WithBaseURL(setting("SVC_ENGINE_URL")),
		option.WithAPIKey(setting("SVC_ENGINE_KEY")),
		option.WithMaxRetries(20),
	)
	reply := must(client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:       chatModel,
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the capital of France? Answer in one word.")},
		MaxTokens:   openai.Int(40),
		Temperature: openai.Float(0),
	}))
	demand(strings.Contains(reply.Choices[0].Message.Content, "Paris"), reply.RawJSON())
	vectors := must(client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model:      textEmbeddingModel,
		Input:      embeddingInput{OfArrayOfStrings: []string{"A cat sleeps.", "A kitten naps.", "Interest rates rose."}},
		Dimensions: openai.Int(768),
	}))
	same(len(vectors.Data[0].Embedding), 768)
	cat := vectors.Data[0].Embedding
	demand(dot(cat, vectors.Data[1].Embedding) > dot(cat, vectors.Data[2].Embedding), "the cat is nearer to the rates")
	sound := must(client.Audio.Speech.New(context.Background(), openai.AudioSpeechNewParams{
		Model: speechModel,
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("Kore")},
		Input: "Hello there.",
	}))
	defer sound.Body.Close()
	header, samples := readWav(must(io.ReadAll(sound.Body)))
	same(header.SampleRate, 24_000)
	demand(len(samples) > 14_000 && len(samples) < 480_000, len(samples))
}

func dot(left, right []float64) float64 {
	var sum float64
	for at, value := range left {
		sum += value * right[at]
	}
	return sum
}
