import { describe, expect, test } from "bun:test";
import { readChanges, toChangesText } from "./changes.ts";

const entry = (fields: Readonly<Record<string, string>>) =>
  `- ${Object.entries({ version: "v1", what: "something", ...fields })
    .map(([name, value]) => `${name}: "${value}"`)
    .join("\n  ")}\n`;
const deprecated = {
  date: "2026-11-20",
  kind: "deprecated",
  target: "SpeechRequest.voice",
  replacement: "SpeechRequest.speaker",
  removal_date: "2027-05-20",
};
const removed = {
  date: "2027-05-20",
  kind: "removed",
  target: "SpeechRequest.voice",
  migration: "send speaker",
};

test("the real file is read, newest first", () => {
  const changes = readChanges();
  expect(changes.length).toBeGreaterThan(3);
  expect(changes.at(-1)?.kind).toBe("added");
});

test("as text, each change tells all it knows", () => {
  const text = toChangesText(readChanges(entry(removed) + entry(deprecated)));
  for (const said of [
    "2027-05-20  v1  removed",
    "migration: send speaker",
    "2026-11-20  v1  deprecated",
    "use instead: SpeechRequest.speaker",
    "works until: 2027-05-20",
  ])
    expect(text).toContain(said);
});

describe("refused is", () => {
  const wrong: Readonly<Record<string, string>> = {
    "what is no list": "what: x",
    "a kind that there is not": entry({ date: "2026-11-20", kind: "improved" }),
    "a field that there is not": entry({ date: "2026-11-20", kind: "added", until: "x" }),
    "a date in another form": entry({ date: "20 Nov 2026", kind: "added" }),
    "an order other than newest first":
      entry({ date: "2026-11-20", kind: "added" }) + entry({ date: "2026-11-21", kind: "added" }),
    "a breaking change without a migration note": entry({ date: "2026-11-20", kind: "breaking" }),
    "a removal that was never announced": entry(removed),
    "a removal that another kind of entry spoke of":
      entry(removed) + entry({ ...deprecated, kind: "changed" }),
    "a removal before its date": entry({ ...removed, date: "2027-05-19" }) + entry(deprecated),
    "a removal without a migration note":
      entry({ date: removed.date, kind: "removed", target: removed.target }) + entry(deprecated),
    "a removal date that is not ahead": entry({ ...deprecated, removal_date: "2026-11-20" }),
    ...Object.fromEntries(
      ["target", "replacement", "removal_date"].map((field) => [
        `a deprecation without ${field}`,
        entry(Object.fromEntries(Object.entries(deprecated).filter(([name]) => name !== field))),
      ]),
    ),
  };
  for (const [name, text] of Object.entries(wrong))
    test(name, () => expect(() => readChanges(text)).toThrow("changes.yaml"));

  test("nothing of what is told well", () => {
    expect(readChanges(entry(removed) + entry(deprecated))).toHaveLength(2);
  });
});
