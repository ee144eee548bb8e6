package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

var failureChecks = []check{
	{"errors: 401 for an invalid key", errorsWrongKey},
	{"errors: 403 for a model that does not exist or that the key may not use", errorsNotAllowed},
	{"errors: 400 names the invalid field", errorsBadField},
	{"errors: 400 for a conversation that is too long has its own code", errorsTooLong},
	{"errors: 404 for an unknown model and an unknown path", errorsNotFound},
	{"errors: 429 and 5xx keep their status and code", errorsLimited},
	{"retries: a 429 is retried after exactly the requested time", retriesLimited},
	{"retries: a 503 is retried after exactly the requested time, also for a stream", retriesOverloaded},
	{"retries: permanent errors are not retried", retriesRefused},
	{"streams: a failure in the middle is an error, after the text that came before it", streamsBreak},
	{"streams: disconnecting stops the upstream", streamsLeave},
}

type told struct {
	status            int
	code, kind, param string
}

// refusal is what the client made of an error reply.
func refusal[T any](_ T, err error) *openai.Error {
	var refused *openai.Error
	demand(errors.As(err, &refused), err)
	demand(strings.HasPrefix(refused.Response.Header.Get("x-request-id"), "req_"), "no request id")
	return refused
}

func tell(refused *openai.Error) told {
	return told{refused.StatusCode, refused.Code, refused.Type, refused.Param}
}

func tryChat(params openai.ChatCompletionNewParams, options ...option.RequestOption) (*openai.ChatCompletion, error) {
	client := newClient()
	return client.Chat.Completions.New(context.Background(), params, options...)
}

func errorsWrongKey() {
	client := newClient(option.WithAPIKey("sk-svc-wrong"))
	refused := refusal(client.Models.List(context.Background()))
	same(tell(refused), told{401, "invalid_api_key", "invalid_request_error", ""})
}

func errorsNotAllowed() {
	wanted := told{403, "model_not_allowed", "permission_error", "model"}
	params := chatParams("plain", "go-403")
	same(tell(refusal(tryChat(params, option.WithAPIKey(setting("SVC_NARROW_KEY"))))), wanted)
	params.Model = "no-such-model"
	same(tell(refusal(tryChat(params))), wanted)
	same(len(seen("go-403")), 0)
}

func errorsBadField() {
	wanted := told{400, "invalid_request", "invalid_request_error", "temperature"}
	params := chatParams("plain", "go-400")
	params.Temperature = openai.Float(3)
	same(tell(refusal(tryChat(params))), wanted)
	same(len(seen("go-400")), 0)

	client := newClient()
	wanted.param = "dimensions"
	same(tell(refusal(client.Embeddings.New(context.Background(), openai.EmbeddingNewParams{
		Model:      textEmbeddingModel,
		Input:      embeddingInput{OfString: openai.String("x")},
		Dimensions: openai.Int(5),
	}))), wanted)
	wanted.param = "voice"
	same(tell(refusal(client.Audio.Speech.New(context.Background(), openai.AudioSpeechNewParams{
		Model: speechModel,
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
		Input: "x",
	}))), wanted)
}

func errorsTooLong() {
	same(refusal(tryChat(chatParams("too-long", "go-too-long"))).Code, "context_length_exceeded")
	client := newClient()
	stream := client.Chat.Completions.NewStreaming(context.Background(), chatParams("too-long", "go-too-long"))
	same(stream.Next(), false)
	same(refusal(true, stream.Err()).Code, "context_length_exceeded")
}

func errorsNotFound() {
	client := newClient()
	refused := refusal(client.Models.Get(context.Background(), "no-such-model"))
	same(tell(refused), told{404, "model_not_found", "invalid_request_error", refused.Param})
	same(refusal(client.Files.List(context.Background(), openai.FileListParams{})).Code, "not_found")
}

func errorsLimited() {
	refused := refusal(tryChat(chatParams("limited", "go-429")))
	same(tell(refused), told{429, "upstream_rate_limited", "rate_limit_error", ""})
	same(refused.Response.Header.Get("retry-after-ms"), setting("SVC_LIMITED_MS"))
	refused = refusal(tryChat(chatParams("failed", "go-502")))
	same(refused.StatusCode, 502)
	same(refused.Type, "upstream_error")
}

// The client gives up when it is told to wait longer than its longest wait. So that it waits
// exactly as long as we say shows without a clock: it gives up if it may wait a millisecond less.
func retriesLimited() {
	wait := time.Duration(must(strconv.Atoi(setting("SVC_LIMITED_MS")))) * time.Millisecond
	tooShort := option.WithMaxRetryDelay(wait - time.Millisecond)
	params := chatParams("limited-once", "go-retry-short")
	same(refusal(tryChat(params, option.WithMaxRetries(2), tooShort)).StatusCode, 429)
	same(len(seen("go-retry-short")), 1)

	params = chatParams("limited-once", "go-retry-429")
	reply := must(tryChat(params, option.WithMaxRetries(2), option.WithMaxRetryDelay(wait)))
	same(reply.Choices[0].Message.Content, plainText)
	same(len(seen("go-retry-429")), 2)
}

func retriesOverloaded() {
	client := newClient(option.WithMaxRetries(2))
	begin := func(tag string, longest time.Duration) *ssestream.Stream[openai.ChatCompletionChunk] {
		return client.Chat.Completions.NewStreaming(context.Background(),
			chatParams("overloaded-once", tag), option.WithMaxRetryDelay(longest))
	}
	short := begin("go-503-short", 999*time.Millisecond)
	same(short.Next(), false)
	same(refusal(true, short.Err()).StatusCode, 503)
	same(len(seen("go-503-short")), 1)

	stream := begin("go-503", time.Second)
	var text strings.Builder
	for stream.Next() {
		text.WriteString(stream.Current().Choices[0].Delta.Content)
	}
	must(true, stream.Err())
	same(text.String(), streamedText)
	same(len(seen("go-503")), 2)
}

func retriesRefused() {
	refused := refusal(tryChat(chatParams("refused", "go-refused"), option.WithMaxRetries(2)))
	same(refused.StatusCode, 400)
	same(refused.Response.Header.Get("x-should-retry"), "false")
	same(len(seen("go-refused")), 1)
}

func streamsBreak() {
	client := newClient()
	for _, answer := range []string{"broken", "cut"} {
		stream := client.Chat.Completions.NewStreaming(context.Background(), chatParams(answer, "go-"+answer))
		var text strings.Builder
		for stream.Next() {
			text.WriteString(stream.Current().Choices[0].Delta.Content)
			if text.String() == "Hello!" {
				goOn("go-" + answer)
			}
		}
		var broken *ssestream.StreamError
		demand(errors.As(stream.Err(), &broken), "it looked like a good end after "+text.String())
		demand(strings.Contains(string(broken.Event.Data), `"code":"upstream_error"`), string(broken.Event.Data))
		demand(strings.HasPrefix(text.String(), "Hello!"), text.String())
	}
}

func streamsLeave() {
	client := newClient()
	stream := client.Chat.Completions.NewStreaming(context.Background(), chatParams("hang", "go-leave"))
	same(stream.Next(), true)
	must(true, stream.Close())
	same(wasBrokenOff("go-leave"), true)

	ctx, cancel := context.WithCancel(context.Background())
	stream = client.Chat.Completions.NewStreaming(ctx, chatParams("hang", "go-cancel"))
	same(stream.Next(), true)
	cancel()
	for stream.Next() {
	}
	demand(errors.Is(stream.Err(), context.Canceled), stream.Err())
	same(wasBrokenOff("go-cancel"), true)
}
