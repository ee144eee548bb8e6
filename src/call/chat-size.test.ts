import { expect, test } from "bun:test";
import type { JsonObject } from "./chat.ts";
import { hasMedia, mostInputTokens, textsOf } from "./chat-size.ts";

const callOf = (part: JsonObject) => ({
  messages: [{ role: "user", content: [part] }],
  maxOutputTokens: undefined,
  options: {},
});
const file = (data: string, filename = "notes.txt") =>
  callOf({ type: "file", file: { filename, file_data: data } });

test("a file is text where its label, its name and its first bytes say so", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  expect(hasMedia(file(`data:text/plain;base64,${base64("Hello")}`))).toBe(false);
  expect(hasMedia(file(`data:application/pdf;base64,${base64("%PDF-1.7")}`))).toBe(true);
  expect(hasMedia(file(`data:text/plain;base64,${base64("%PDF-1.7")}`))).toBe(true);
  expect(hasMedia(file(`data:text/csv;base64,${base64("PK\u0003\u0004")}`))).toBe(true);
  expect(hasMedia(file(`data:text/plain;base64,${base64("Hello")}`, "report.PDF"))).toBe(true);
});

test("what nobody has counted is at most a token a byte of a document, and far less of sound", () => {
  const chars = 100_000;
  const pdf = textsOf(file(`data:application/pdf;base64,${"A".repeat(chars)}`));
  expect(pdf.texts).toEqual([]);
  expect(pdf.mediaTokens).toBeWithin(75_000, 75_200);
  const data = "A".repeat(chars);
  const sound = textsOf(callOf({ type: "input_audio", input_audio: { data, format: "mp3" } }));
  expect(sound.mediaTokens).toBeWithin(600, 610);
});

test("a long file is measured as it stands, and never written out", () => {
  const data = `data:text/plain;base64,${"QUJD".repeat(100_000)}`;
  const notes = file(data);
  expect(textsOf(notes).texts).toContain(data);
  const short = mostInputTokens(file("data:text/plain;base64,QUJD"), 0);
  expect(mostInputTokens(notes, 0) - short).toBe(4 * 99_999);
  const pdf = file(data.replace("text/plain", "application/pdf"));
  expect(textsOf(pdf).mediaTokens).toBeWithin(300_000, 300_200);
  // No text of the same length is made: what stands there is the caller's own string.
  expect(textsOf(notes).texts.filter((text) => text.length > 1_000)).toEqual([data]);
});
