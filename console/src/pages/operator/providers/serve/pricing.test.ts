import { describe, expect, test } from "bun:test";
import {
  firstPricing,
  lacksAmount,
  type Pricing,
  type Proposal,
  shownPrice,
  toServed,
} from "./pricing.ts";

const proposal: Proposal = {
  id: "mini",
  upstream: "vendor/mini",
  endpoint: "chat",
  input: "text",
  price: { input: "0.15", output: "0.60" },
  list_price: { input: "0.15", output: "0.60", cached_input: "0.075", audio_output: "12.00" },
  note: null,
};
const usual: Pricing = { mode: "markup", markup: "20", prices: {} };
const list: Pricing = { mode: "list", markup: "", prices: {} };

describe("the price of a model", () => {
  test("is the list price with the markup for all, exactly", () => {
    expect(shownPrice(proposal, {}, usual)).toEqual({
      input: "0.18",
      cached_input: "0.09",
      output: "0.72",
    });
  });

  test("is what the row says, where it says something", () => {
    expect(shownPrice(proposal, { mode: "free" }, usual)).toEqual({ input: "0", output: "0" });
    expect(shownPrice(proposal, { mode: "list" }, usual)?.["input"]).toBe("0.15");
    expect(shownPrice(proposal, { markup: "100" }, usual)?.["input"]).toBe("0.30");
    const price = { input: "1", output: "" };
    expect(shownPrice(proposal, { mode: "own", price }, usual)).toEqual({ input: "1" });
  });

  test("follows the endpoint, and is none where a class has no list price", () => {
    expect(shownPrice(proposal, { endpoint: "speech" }, list)).toEqual({
      input: "0.15",
      audio_output: "12.00",
    });
    expect(shownPrice({ ...proposal, list_price: null }, {}, usual)).toBeNull();
    expect(shownPrice({ ...proposal, list_price: { input: "1" } }, {}, usual)).toBeNull();
  });

  test("is none while the markup is not a percentage", () => {
    expect(shownPrice(proposal, {}, { ...usual, markup: "20 %" })).toBeNull();
  });
});

describe("one price", () => {
  const one: Pricing = {
    mode: "one",
    markup: "",
    prices: { chat: { input: " 1 ", output: "2", cached_input: "" }, speech: { input: "3" } },
  };

  test("is that of the model's kind", () => {
    expect(shownPrice(proposal, {}, one)).toEqual({ input: "1", output: "2" });
    expect(shownPrice(proposal, { endpoint: "speech" }, one)).toEqual({ input: "3" });
    expect(shownPrice(proposal, { endpoint: "embeddings" }, one)).toBeNull();
    expect(toServed(proposal, {}, one).price).toEqual({ input: "1", output: "2" });
    const own = { mode: "own", price: { input: "9", output: "9" } } as const;
    expect(toServed(proposal, own, one).price).toEqual({ input: "9", output: "9" });
  });

  test("is what a vendor without list prices starts with", () => {
    expect(firstPricing([{ ...proposal, list_price: null }]).mode).toBe("one");
    expect(firstPricing([{ ...proposal, list_price: null }, proposal]).mode).toBe("markup");
  });
});

test("an own price lacks an amount until every needed class has one", () => {
  const own = (price: Record<string, string>) => ({ mode: "own", price }) as const;
  for (const price of [
    {},
    { input: "1" },
    { input: "1", output: " " },
    { input: "1", output: "$2" },
  ])
    expect(lacksAmount(proposal, own(price))).toBe(true);
  expect(lacksAmount(proposal, own({ input: "1", output: "0" }))).toBe(false);
  const typed = own({ input: "1", output: "$2" });
  expect(lacksAmount(proposal, { ...typed, endpoint: "embeddings" })).toBe(false);
  expect(toServed(proposal, { ...typed, endpoint: "embeddings" }, list).price).toEqual({
    input: "1",
  });
  expect(lacksAmount(proposal, { mode: "own" })).toBe(true);
  expect(lacksAmount(proposal, {})).toBe(false);
});

test("only one way of pricing is sent", () => {
  const base = { upstream: "vendor/mini", id: "mini", endpoint: "chat" } as const;
  expect(toServed(proposal, {}, usual)).toEqual({ ...base, markup: "20" });
  expect(toServed(proposal, {}, list)).toEqual(base);
  expect(toServed(proposal, { mode: "free" }, usual)).toEqual({ ...base, free: true });
  expect(
    toServed(proposal, { id: " own-id ", mode: "own", price: { input: "1", output: "2" } }, usual),
  ).toEqual({ ...base, id: "own-id", price: { input: "1", output: "2" } });
});
