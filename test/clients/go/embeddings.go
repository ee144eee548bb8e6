package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

var embeddingChecks = []check{
	{"embeddings: floats by default", embedFloats},
	{"embeddings: many inputs keep their order", embedMany},
	{"embeddings: dimensions sets the size", embedDimensions},
	{"embeddings: token ids are accepted, in one array or several", embedTokens},
	{"embeddings: each image gets a vector and is counted", embedImages},
	{"embeddings: a video gets one vector and its seconds are counted", embedVideo},
}

type embeddingInput = openai.EmbeddingNewParamsInputUnion

func embed(params openai.EmbeddingNewParams, options ...option.RequestOption) *openai.CreateEmbeddingResponse {
	client := newClient()
	return must(client.Embeddings.New(context.Background(), params, options...))
}

// vector is what the upstream gives; every value is exact in 32 bits.
func vector(index, size int) []float64 {
	values := make([]float64, size)
	for at := range values {
		values[at] = 1 / math.Pow(2, float64(at%16))
	}
	values[0] = float64(index + 1)
	return values
}

func firstValues(reply *openai.CreateEmbeddingResponse) []float64 {
	values := make([]float64, len(reply.Data))
	for at, item := range reply.Data {
		same(item.Index, int64(at))
		values[at] = item.Embedding[0]
	}
	return values
}

func embedFloats() {
	reply := embed(openai.EmbeddingNewParams{
		Model: textEmbeddingModel,
		Input: embeddingInput{OfString: openai.String(asking("plain", "go-embed"))},
	})
	same(len(reply.Data), 1)
	same(reply.Data[0].Embedding, vector(0, 3072))
	same([2]int64{reply.Usage.PromptTokens, reply.Usage.TotalTokens}, [2]int64{9, 9})
}

func embedMany() {
	inputs := []string{asking("plain", "go-embed-many")}
	wanted := []float64{1}
	for at := range 99 {
		inputs = append(inputs, fmt.Sprintf("text %d", at))
		wanted = append(wanted, float64(at+2))
	}
	reply := embed(openai.EmbeddingNewParams{
		Model: textEmbeddingModel,
		Input: embeddingInput{OfArrayOfStrings: inputs},
	})
	same(firstValues(reply), wanted)
}

func embedDimensions() {
	for _, size := range []int{768, 1536, 3072} {
		reply := embed(openai.EmbeddingNewParams{
			Model:      textEmbeddingModel,
			Input:      embeddingInput{OfString: openai.String("text")},
			Dimensions: openai.Int(int64(size)),
		})
		same(reply.Data[0].Embedding, vector(0, size))
	}
}

func embedTokens() {
	one := embed(openai.EmbeddingNewParams{
		Model: textEmbeddingModel,
		Input: embeddingInput{OfArrayOfTokens: []int64{9906, 1917}},
	})
	same(firstValues(one), []float64{1})
	same(lastSeen()["input"], any([]any{[]any{9906.0, 1917.0}}))
	many := embed(openai.EmbeddingNewParams{
		Model: textEmbeddingModel,
		Input: embeddingInput{OfArrayOfTokenArrays: [][]int64{{9906}, {1917, 0}}},
	})
	same(firstValues(many), []float64{1, 2})
	same(lastSeen()["input"], any([]any{[]any{9906.0}, []any{1917.0, 0.0}}))
}

func counted(reply *openai.CreateEmbeddingResponse, name string) float64 {
	var count float64
	must(true, json.Unmarshal([]byte(reply.Usage.JSON.ExtraFields[name].Raw()), &count))
	return count
}

func embedImages() {
	reply := embed(openai.EmbeddingNewParams{
		Model: mediaEmbeddingModel,
		Input: embeddingInput{OfArrayOfStrings: []string{
			dataURI("tiny.png", "image/png"),
			dataURI("tiny.jpg", "image/jpeg"),
			dataURI("tiny.webp", "image/webp"),
		}},
	})
	same(firstValues(reply), []float64{1, 2, 3})
	same(counted(reply, "images"), 3)
}

func embedVideo() {
	// The types of the client know texts only: a video goes as a field over them.
	clip := map[string]any{"video": map[string]any{"bytesBase64Encoded": base64Of("h264-3s.mp4")}}
	for _, input := range []any{clip, []any{clip}} {
		reply := embed(
			openai.EmbeddingNewParams{Model: mediaEmbeddingModel, Input: embeddingInput{OfString: openai.String("")}},
			option.WithJSONSet("input", input),
		)
		same(firstValues(reply), []float64{1})
		same(counted(reply, "video_seconds"), 3)
	}
}
