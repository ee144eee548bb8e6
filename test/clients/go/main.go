// Every check of one Go client against a running gateway, named by the first argument; one line of
// JSON for each.
package main

import (
	"os"
	"slices"
)

var clients = map[string][]check{
	"go":           slices.Concat(chatChecks, responseChecks, completionChecks, embeddingChecks, speechChecks, modelChecks, failureChecks),
	"go-anthropic": anthropicChecks,
	"go-openai":    goOpenaiChecks,
}

func main() {
	demand(len(os.Args) == 2 && clients[os.Args[1]] != nil, "usage: client go|go-anthropic|go-openai")
	for _, one := range clients[os.Args[1]] {
		report(one)
	}
}
