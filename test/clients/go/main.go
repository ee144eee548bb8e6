// Every check of openai-go against a running gateway; one line of JSON for each.
package main

import "slices"

func main() {
	for _, one := range slices.Concat(chatChecks, completionChecks, embeddingChecks, speechChecks, modelChecks, failureChecks) {
		report(one)
	}
}
