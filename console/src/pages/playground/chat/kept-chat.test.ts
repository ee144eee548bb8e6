import { expect, test } from "bun:test";
import { GatewayProblem } from "../gateway/gateway-call.ts";
import { type Exchange, newAnswer } from "./conversation.ts";
import { keepChat, readChat } from "./kept-chat.ts";

function storage(most = Number.POSITIVE_INFINITY): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    clear: () => items.clear(),
    key: (at) => [...items.keys()][at] ?? null,
    getItem: (name) => items.get(name) ?? null,
    removeItem: (name) => void items.delete(name),
    setItem: (name, text) => {
      if (text.length > most) throw new DOMException("full", "QuotaExceededError");
      items.set(name, text);
    },
  };
}

const exchange = (id: number, text = "Paris."): Exchange => ({
  id,
  question: { text: `question ${id}`, pictures: [] },
  answer: { ...newAnswer("m", "messages"), state: "done", text, requestId: `req_${id}` },
});

test("a conversation is the same after a reload", () => {
  const place = storage();
  keepChat(place, "x", [exchange(1), exchange(2)]);
  expect(readChat(place, "x")).toEqual([exchange(1), exchange(2)]);
  keepChat(place, "x", []);
  expect(readChat(place, "x")).toEqual([]);
});

test("a conversation of a version with one format is read as that", () => {
  const place = storage();
  keepChat(place, "x", [exchange(1)]);
  place.setItem("x", (place.getItem("x") ?? "").replace('"dialect":"messages",', ""));
  expect(readChat(place, "x")[0]?.answer.dialect).toBe("chat");
});

test("an error is one again, and what was in flight is gone", () => {
  const place = storage();
  const trouble = new GatewayProblem({ status: 402, code: "insufficient_quota", message: "No." });
  const failed: Exchange = {
    ...exchange(1),
    answer: { ...exchange(1).answer, state: "failed", trouble },
  };
  const coming: Exchange = { ...exchange(2), answer: newAnswer("m", "messages") };
  keepChat(place, "x", [failed, coming]);
  const [read, ...rest] = readChat(place, "x");
  expect(read?.answer.trouble).toBeInstanceOf(GatewayProblem);
  expect(read?.answer.trouble).toMatchObject({ status: 402, message: "No." });
  expect(rest).toEqual([]);
});

test("the newest that fit are kept", () => {
  const place = storage();
  const long = "x".repeat(900_000);
  keepChat(place, "x", [exchange(1, long), exchange(2, long), exchange(3, long)]);
  expect(readChat(place, "x").map(({ question }) => question.text)).toEqual([
    "question 2",
    "question 3",
  ]);
});

test("neither a full store nor what another version wrote breaks the page", () => {
  const place = storage(10);
  keepChat(place, "x", [exchange(1)]);
  expect(readChat(place, "x")).toEqual([]);
  for (const text of ["{", "7", '[{"question":1}]', '[{"question":{"text":"a"},"answer":{}}]']) {
    const other = storage();
    other.setItem("x", text);
    expect(readChat(other, "x")).toEqual([]);
  }
});
