import { expect, test } from "bun:test";
import { vectors } from "./media-traffic.ts";
import {
  asksFor,
  chatRequest,
  fromStreamBody,
  paceOf,
  streamRequest,
  upstreamModel,
} from "./traffic.ts";

const bodyOf = (request: Buffer) => {
  const text = request.toString("latin1");
  return text.slice(text.indexOf("\r\n\r\n") + 4);
};

test("a chat has exactly the size that was asked for", () => {
  for (const bodyBytes of [1_000, 2_600, 50_000]) {
    const body = bodyOf(chatRequest({ model: upstreamModel, key: "a", bodyBytes }));
    expect(body.length).toBe(bodyBytes);
    expect(JSON.parse(body).messages.at(-1).content).toStartWith("Hello");
  }
});

test("a stream carries its chunks and its pace to the upstream", () => {
  const body = bodyOf(streamRequest({ model: upstreamModel, key: "a", chunks: 500, paceMs: 100 }));
  expect(fromStreamBody(body)).toBe(500);
  expect(paceOf(body)).toBe(100);
  const plain = bodyOf(streamRequest({ model: upstreamModel, key: "a", chunks: 50 }));
  expect(paceOf(plain)).toBe(10);
});

test("requests are recognized with and without spaces in their JSON", () => {
  const body = JSON.parse(bodyOf(streamRequest({ model: upstreamModel, key: "a", chunks: 7 })));
  const spaced = JSON.stringify(body, undefined, 1).replaceAll("\n", "");
  expect(asksFor(spaced, upstreamModel)).toBe(true);
  expect(fromStreamBody(spaced)).toBe(7);
  expect(fromStreamBody(bodyOf(chatRequest({ model: upstreamModel, key: "a" })))).toBeUndefined();
});

test("numbers of vectors survive float32 and are short", () => {
  const [vector = []] = vectors();
  expect(vector.length).toBe(3_072);
  for (const value of vector) {
    expect(Math.abs(value)).toBeGreaterThan(0.0009);
    expect(String(value).replace(/^-?0\.0*/, "").length).toBeLessThanOrEqual(9);
  }
  expect(new Set(vector).size).toBeGreaterThan(3_000);
});
