package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	chatModel           = "svc-3-flash"
	textEmbeddingModel  = "svc-embedding-2"
	mediaEmbeddingModel = "multimodal-embedding-1"
	speechModel         = "svc-2.5-flash-tts"

	plainText       = "Hello! How can I help you today?"
	streamedText    = "Hello! How can I help?"
	completionReply = " red, yellow and blue."
	multiByteText   = "Grüße 你好，世界 👋🏽👩‍👩‍👧 €"
)

// A check panics when it fails: same and must do it for most of them.
type check struct {
	name string
	run  func()
}

type result struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// report prints one line of JSON for the check, whatever happened in it.
func report(one check) {
	outcome := result{Check: one.name, OK: true}
	func() {
		defer func() {
			if problem := recover(); problem != nil {
				outcome.OK = false
				outcome.Error = describe(problem)
			}
		}()
		one.run()
	}()
	line, err := json.Marshal(outcome)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// describe adds the body of an API error, which the client keeps out of its message.
func describe(problem any) string {
	err, isError := problem.(error)
	var refused *openai.Error
	if isError && errors.As(err, &refused) {
		return fmt.Sprintf("%v: %s", err, refused.RawJSON())
	}
	return fmt.Sprint(problem)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func same[T any](got, wanted T) {
	if !reflect.DeepEqual(got, wanted) {
		panic(fmt.Sprintf("got %#v, not %#v", got, wanted))
	}
}

func demand(isSo bool, otherwise any) {
	if !isSo {
		panic(otherwise)
	}
}

// setting is what the runner has put into the environment.
func setting(name string) string {
	value := os.Getenv(name)
	demand(value != "", name+" is not set")
	return value
}

// newClient does not try again unless told to.
func newClient(options ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(setting("SVC_BASE_URL")),
		option.WithAPIKey(setting("SVC_API_KEY")),
		option.WithMaxRetries(0),
	}, options...)...)
}

// asking has the words by which the upstream picks its recorded answer.
func asking(answer, tag string) string {
	return fmt.Sprintf("Say hello. answer=%s tag=%s", answer, tag)
}

// seen gives the bodies that the upstream was sent with this tag; with none, all of them.
func seen(tag string) []map[string]any {
	var requests []struct {
		JSON map[string]any `json:"json"`
	}
	observe("/requests", tag, &requests)
	bodies := make([]map[string]any, len(requests))
	for at, request := range requests {
		bodies[at] = request.JSON
	}
	return bodies
}

func lastSeen() map[string]any {
	all := seen("")
	return all[len(all)-1]
}

// wasBrokenOff waits until the upstream's last request with this tag has ended.
func wasBrokenOff(tag string) bool {
	var end struct {
		Aborted bool `json:"aborted"`
	}
	observe("/ended", tag, &end)
	return end.Aborted
}

// goOn lets a stream that waits go on, and break: its text has been read.
func goOn(tag string) {
	var nothing struct{}
	observe("/release", tag, &nothing)
}

func observe(path, tag string, into any) {
	address := setting("SVC_OBSERVER_URL") + path
	if tag != "" {
		address += "?tag=" + url.QueryEscape(tag)
	}
	reply := must(http.Get(address))
	defer reply.Body.Close()
	body := must(io.ReadAll(reply.Body))
	demand(reply.StatusCode == http.StatusOK, string(body))
	if err := json.Unmarshal(body, into); err != nil {
		panic(err)
	}
}
