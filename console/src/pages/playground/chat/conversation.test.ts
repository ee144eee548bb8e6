import { expect, test } from "bun:test";
import { type Exchange, newAnswer, noParameters, toChatBody } from "./conversation.ts";

const ask = (text: string) => ({ text, pictures: [] });
const exchange = (id: number, question: string, answer: string): Exchange => ({
  id,
  question: ask(question),
  answer: { ...newAnswer("m"), state: "done", text: answer },
});

test("what is not set is not sent, so that the model's own values count", () => {
  const body = toChatBody({
    model: "m",
    parameters: noParameters,
    history: [],
    question: ask("Hi"),
  });
  expect(body).toEqual({
    model: "m",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("everything that is set is sent under the contract's names, zero too", () => {
  const body = toChatBody({
    model: "m",
    parameters: {
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
    },
    history: [],
    question: ask("Hi"),
  });
  expect(body).toMatchObject({
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

test("a question goes with all that was said before, without questions that got no answer", () => {
  const { messages } = toChatBody({
    model: "m",
    parameters: noParameters,
    history: [exchange(1, "One?", "1"), exchange(2, "Lost?", ""), exchange(3, "Two?", "2")],
    question: ask("Three?"),
  });
  expect(messages).toEqual([
    { role: "user", content: "One?" },
    { role: "assistant", content: "1" },
    { role: "user", content: "Two?" },
    { role: "assistant", content: "2" },
    { role: "user", content: "Three?" },
  ]);
});

test("images go along as parts of the message", () => {
  const picture = { id: "a", name: "a.png", dataUri: "data:image/png;base64,AA" };
  const { messages } = toChatBody({
    model: "m",
    parameters: noParameters,
    history: [],
    question: { text: "What is it?", pictures: [picture] },
  });
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: picture.dataUri } },
      ],
    },
  ]);
});
