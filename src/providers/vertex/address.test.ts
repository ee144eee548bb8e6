import { expect, test } from "bun:test";
import { modelPath, placePath, placeProblem, toBaseUrl } from "./address.ts";

const at = (location: string, isExpress = false) => ({ project: "p-1", location, isExpress });

test.each([
  ["us-central1", "https://us-central1-aiplatform.googleapis.com/v1"],
  ["global", "https://aiplatform.googleapis.com/v1"],
  ["eu", "https://aiplatform.eu.rep.googleapis.com/v1"],
])("models of %s answer at %s", (location, url) => {
  expect(toBaseUrl(at(location))).toBe(url);
});

test("a key alone is used at the one address for keys, which names no project", () => {
  expect(toBaseUrl(at("us-central1", true))).toBe("https://aiplatform.googleapis.com/v1");
  expect(placePath(at("us-central1", true))).toBe("");
  expect(placePath(at("us-central1"))).toBe("/projects/p-1/locations/us-central1");
});

test.each([
  ["gemini-2.5-flash", "/publishers/google/models/gemini-2.5-flash"],
  ["models/gemini-2.5-flash", "/publishers/google/models/gemini-2.5-flash"],
  ["multimodalembedding@001", "/publishers/google/models/multimodalembedding@001"],
  ["meta/llama-4-maverick", "/publishers/meta/models/llama-4-maverick"],
  ["publishers/meta/models/llama-4", "/publishers/meta/models/llama-4"],
  ["endpoints/1234567890", "/endpoints/1234567890"],
  ["a?b#c", "/publishers/google/models/a%3Fb%23c"],
])("the model %s is found at %s", (model, path) => {
  expect(modelPath(model)).toBe(path);
});

test.each([
  [{ project: "", location: "us-central1", isExpress: false }, "project"],
  [{ project: "a/b", location: "us-central1", isExpress: false }, "project"],
  [{ project: "..", location: "us-central1", isExpress: false }, "project"],
  [{ project: "p", location: "", isExpress: false }, "location"],
  [{ project: "p", location: "evil.example/x#", isExpress: false }, "location"],
])("a place that cannot be part of an address is named: %#", (place, option) => {
  expect(placeProblem(place)).toStartWith(option);
});

test("projects of a domain are good names", () => {
  expect(placeProblem({ project: "example.com:p", location: "global", isExpress: false })).toBe(
    undefined,
  );
});

test.each(["..", "a/../b", "../../../../v1/projects/other/models/m", "endpoints/.."])(
  "a model's name does not lead out of its folder: %s",
  (name) => {
    expect(() => modelPath(name)).toThrow();
  },
);
