import { describe, expect, test } from "bun:test";
import type { DialectId } from "../../../../components/code/dialects.ts";
import {
  type ChatParameters,
  type Exchange,
  newAnswer,
  noParameters,
  type Question,
} from "../conversation.ts";
import { lacksOf, toCall } from "./dialects.ts";

const ask = (text: string) => ({ text, pictures: [] });
const exchange = (id: number, question: string, answer: string): Exchange => ({
  id,
  question: ask(question),
  answer: { ...newAnswer("m", "chat"), state: "done", text: answer },
});
const picture = { id: "a", name: "a.png", dataUri: "data:image/png;base64,AA==" };
const all: ChatParameters = {
  system: "Be brief.",
  temperature: 0,
  topP: 0.5,
  maxTokens: 9,
  seed: 0,
  presencePenalty: -1,
  frequencyPenalty: 1,
  effort: "low",
  isJson: true,
  stop: "END\n\n###",
};

interface Asked {
  readonly parameters?: ChatParameters;
  readonly history?: readonly Exchange[];
  readonly question?: Question;
  readonly mostTokens?: number | null;
}

const bodyOf = (id: DialectId, asked: Asked = {}) => {
  const {
    parameters = noParameters,
    history = [],
    question = ask("Hi"),
    mostTokens = null,
  } = asked;
  return toCall(id, { model: "m", mostTokens, parameters, history, question }).body;
};

test("each goes to its own path", () => {
  const options = { model: "m", mostTokens: null, parameters: noParameters, history: [] };
  const paths = (["chat", "responses", "messages"] as const).map(
    (id) => toCall(id, { ...options, question: ask("Hi") }).path,
  );
  expect(paths).toEqual(["/chat/completions", "/responses", "/messages"]);
});

describe("what is not set is not sent, so that the model's own values count", () => {
  test("chat", () => {
    expect(bodyOf("chat")).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("responses; and nothing is kept", () => {
    expect(bodyOf("responses")).toEqual({
      model: "m",
      input: [{ role: "user", content: "Hi" }],
      store: false,
      stream: true,
    });
  });

  test("messages, but for the limit that they require", () => {
    const expected = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true };
    expect(bodyOf("messages")).toEqual({ ...expected, max_tokens: 4_096 });
    expect(bodyOf("messages", { mostTokens: 1_000 })).toEqual({ ...expected, max_tokens: 1_000 });
  });
});

describe("everything that is set is sent under the format's names, zero too", () => {
  test("chat", () => {
    expect(bodyOf("chat", { parameters: all })).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      temperature: 0,
      top_p: 0.5,
      max_tokens: 9,
      seed: 0,
      presence_penalty: -1,
      frequency_penalty: 1,
      reasoning_effort: "low",
      response_format: { type: "json_object" },
      stop: ["END", "###"],
    });
  });

  test("responses", () => {
    expect(bodyOf("responses", { parameters: all })).toEqual({
      model: "m",
      instructions: "Be brief.",
      input: [{ role: "user", content: "Hi" }],
      max_output_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      reasoning: { effort: "low" },
      text: { format: { type: "json_object" } },
      store: false,
      stream: true,
    });
  });

  test("messages", () => {
    expect(bodyOf("messages", { parameters: all })).toEqual({
      model: "m",
      max_tokens: 9,
      system: "Be brief.",
      messages: [{ role: "user", content: "Hi" }],
      temperature: 0,
      top_p: 0.5,
      stop_sequences: ["END", "###"],
      thinking: { type: "enabled", budget_tokens: 8 },
      stream: true,
    });
  });

  test("what a format lacks changes nothing in its body", () => {
    for (const id of ["chat", "responses", "messages"] as const) {
      const without = Object.fromEntries(lacksOf(id).map((name) => [name, noParameters[name]]));
      const fewer = { ...all, ...without } as ChatParameters;
      expect(bodyOf(id, { parameters: fewer })).toEqual(bodyOf(id, { parameters: all }));
    }
  });
});

test("thoughts leave room for the reply, and can be switched off", () => {
  const withEffort = (effort: string) =>
    bodyOf("messages", { parameters: { ...noParameters, effort } });
  expect(withEffort("high")).toMatchObject({
    max_tokens: 20_480,
    thinking: { type: "enabled", budget_tokens: 16_384 },
  });
  expect(withEffort("none")).toMatchObject({
    max_tokens: 4_096,
    thinking: { type: "disabled" },
  });
});

test("a question goes with all that was said before, without questions that got no answer", () => {
  const history = [exchange(1, "One?", "1"), exchange(2, "Lost?", ""), exchange(3, "Two?", "2")];
  const said = [
    { role: "user", content: "One?" },
    { role: "assistant", content: "1" },
    { role: "user", content: "Two?" },
    { role: "assistant", content: "2" },
    { role: "user", content: "Three?" },
  ];
  const asked = { history, question: ask("Three?") };
  expect(bodyOf("chat", asked)["messages"]).toEqual(said);
  expect(bodyOf("responses", asked)["input"]).toEqual(said);
  expect(bodyOf("messages", asked)["messages"]).toEqual(said);
});

test("images go along as parts of the message", () => {
  const question = { text: "What is it?", pictures: [picture] };
  const contentOf = (id: DialectId, list: string) =>
    (bodyOf(id, { question })[list] as readonly { readonly content: unknown }[])[0]?.content;
  expect(contentOf("chat", "messages")).toEqual([
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url: picture.dataUri } },
  ]);
  expect(contentOf("responses", "input")).toEqual([
    { type: "input_text", text: "What is it?" },
    { type: "input_image", image_url: picture.dataUri, detail: "auto" },
  ]);
  expect(contentOf("messages", "messages")).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
    { type: "text", text: "What is it?" },
  ]);
});
