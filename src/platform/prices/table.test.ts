import { describe, expect, test } from "bun:test";
import { calcPrice, type ModelPrice, waitForUpdate } from "@pydantic/genai-prices";
import { toDecimal } from "../../base/decimal.ts";
import { costOf, type Price } from "../../call/price.ts";
import { vendors } from "../../catalog/vendors.ts";
import { findPublicPrice, type PublicPrice, type PublicPriceQuery, toNanoPrice } from "./table.ts";

const nowMs = Date.UTC(2026, 10, 15, 12);
const find = (model: string, baseUrl?: string) => findPublicPrice({ model, baseUrl, nowMs });
/** As an operator writes them: USD per million tokens. */
const inUsd = (price: Price | undefined) =>
  Object.fromEntries(
    Object.entries(price ?? {}).map(([key, nano]) => [key, toDecimal(nano ?? -1n, 9)]),
  );
const told = async (asked: Promise<PublicPrice | undefined>) => {
  const found = await asked;
  return found && [`${found.vendor} ${found.model}`, inUsd(found.price)];
};

const openai = "https://api.openai.com/v1";
const google = "https://generativelanguage.googleapis.com/v1beta";
const openrouter = "https://openrouter.ai/api/v1";
const vertex = "aiplatform.googleapis.com";
const sonnet = { input: "3", cache_write: "3.75", cached_input: "0.3", output: "15" };
const flash = { input: "0.3", cached_input: "0.03", output: "2.5" };
const deepseek = { input: "0.27", cached_input: "0.07", output: "1.1" };
const byDate = "the price changes by date; the price of 2026-11-15 is used";
const byHour = "the price changes by time of day; the highest is used";
const byTier = "priced by context length; the highest tier is used";

describe("models that the table knows", () => {
  test("have integer nano-USD a million tokens, exactly", async () => {
    expect((await find("gpt-4o-mini"))?.price).toEqual({
      input: 150_000_000n,
      cached_input: 75_000_000n,
      output: 600_000_000n,
    });
  });

  test.each([
    ["gpt-4.1", "openai gpt-4.1", { input: "2", cached_input: "0.5", output: "8" }],
    ["claude-sonnet-4-0", "anthropic claude-sonnet-4-0", sonnet],
    ["gemini-2.5-flash", "google gemini-2.5-flash", flash],
    ["mistral-large-latest", "mistral mistral-large", { input: "2", output: "6" }],
    ["deepseek-chat", "deepseek deepseek-chat", deepseek],
  ])("%s has its vendor's price", async (name, model, price) => {
    expect(await told(find(name))).toEqual([model, price]);
  });

  test("an embedding model has a price for input alone", async () => {
    const expected = ["openai text-embedding-3-small", { input: "0.02" }];
    expect(await told(find("text-embedding-3-small", openai))).toEqual(expected);
  });

  test("a model that speaks has its output priced as audio", async () => {
    const flash = await find("models/gemini-2.5-flash-preview-tts");
    expect(inUsd(flash?.price)).toEqual({ input: "0.5", audio_output: "10" });
    expect(flash?.notes).toEqual(["a speech model; its output price is used for audio output"]);
    const audio = { input: "2.5", output: "10", audio_output: "64" };
    expect(inUsd((await find("gpt-audio"))?.price)).toEqual(audio);
  });

  test("a model that speaks never has the price of the chat model whose name it begins with", async () => {
    expect(await find("gemini-3.8-flash", google)).toBeDefined();
    expect(await find("gemini-3.8-flash-tts", google)).toBeUndefined();
    expect(await find("models/gemini-3.8-flash-lite-tts", google)).toBeUndefined();
  });

  test("what has no place in our prices is told in plain words", async () => {
    const notTaken = (what: string) => `the vendor also charges for ${what} (not imported)`;
    expect((await find("gemini-2.5-flash"))?.notes).toEqual([
      notTaken("audio input tokens"),
      notTaken("cached audio input tokens"),
    ]);
    expect((await find("sonar", "https://api.perplexity.ai"))?.notes).toEqual([
      notTaken("each request"),
    ]);
    const claude = (await find("claude-sonnet-4-0"))?.notes;
    expect(claude).toContain(notTaken("one-hour cache writes"));
    expect(claude).toContain(notTaken("web searches"));
  });
});

describe("prices that depend on something", () => {
  test("of tiers of context, the dearest is taken, and this is told", async () => {
    const pro = await find("gemini-2.5-pro");
    expect(inUsd(pro?.price)).toEqual({ input: "2.5", cached_input: "0.25", output: "15" });
    expect(pro?.notes).toEqual([byTier]);
  });

  test("of prices by date, the one in force is taken, and the next change is told", async () => {
    const medium = (day: string) =>
      findPublicPrice({ model: "mistral-medium-latest", nowMs: Date.parse(day) });
    const before = await medium("2026-06-15T23:59:59.999Z");
    expect(inUsd(before?.price)).toEqual({ input: "0.4", cached_input: "0.04", output: "2" });
    expect(before?.notes).toEqual([
      "the price changes by date; the price of 2026-06-15 is used",
      "the price changes on 2026-06-16",
    ]);
    const after = await medium("2026-06-16");
    expect(inUsd(after?.price)).toEqual({ input: "1.5", cached_input: "0.15", output: "7.5" });
    expect((await find("mistral-medium-latest"))?.notes).toEqual([byDate]);
  });

  test("tiers that are gone by date are not taken", async () => {
    const opus = await find("claude-opus-4-6");
    expect(inUsd(opus?.price).input).toBe("5");
    expect(opus?.notes).not.toContain(byTier);
  });

  test("of prices by the hour, the dearest is taken at any hour", async () => {
    for (const hour of [0, 3, 12, 20]) {
      const atMs = Date.UTC(2026, 10, 15, hour);
      const chat = await findPublicPrice({ model: "deepseek-chat", nowMs: atMs });
      expect(inUsd(chat?.price)).toEqual(deepseek);
      expect(chat?.notes).toEqual([byHour]);
    }
  });

  test("by date and hour at once, the dearest hour of the date in force is taken", async () => {
    const pro = await find("deepseek-v4-pro");
    expect(inUsd(pro?.price)).toEqual({ input: "1.32", cached_input: "0.044", output: "3.96" });
    expect(pro?.notes).toEqual([byDate, byHour]);
  });
});

describe("names and addresses", () => {
  const gemini = "google gemini-2.5-flash";
  const claude = "anthropic/claude-sonnet-4";
  const oss = "openai/gpt-oss-120b";
  const groq = { input: "0.15", cached_input: "0.075", output: "0.6" };

  test.each([
    ["anthropic/claude-sonnet-4", undefined, "anthropic claude-sonnet-4-0", sonnet],
    [`openrouter/${claude}`, undefined, `openrouter ${claude}`, sonnet],
    [claude, openrouter, `openrouter ${claude}`, sonnet],
    ["models/gemini-2.5-flash", undefined, gemini, flash],
    ["models/gemini-2.5-flash", google, gemini, flash],
    ["publishers/google/models/gemini-2.5-flash", `https://europe-west4-${vertex}`, gemini, flash],
    ["google/gemini-2.5-flash", `https://${vertex}/v1`, gemini, flash],
    [oss, "https://api.groq.com/openai/v1", `groq ${oss}`, groq],
  ])("%s at %p is found", async (name, baseUrl, model, price) => {
    expect(await told(find(name, baseUrl))).toEqual([model, price]);
  });

  test.each([
    ["a name that nobody has", "llama-of-our-own", undefined],
    ["a new name of a known vendor", "gpt-99", undefined],
    ["a known vendor's prefix before an unknown name", "anthropic/gpt-4o-mini", undefined],
    ["another vendor's model at a vendor's address", "gpt-4o-mini", "https://api.mistral.ai/v1"],
    ["another vendor's prefix at a vendor's address", "anthropic/gpt-4o-mini", openai],
    ["a public name on a machine of one's own", "deepseek-r1:8b", "http://localhost:11434/v1"],
    [
      "a vendor's name in the path of another address",
      "gpt-4o-mini",
      `https://example.org/${openai}`,
    ],
    ["a model with prices of no kind of ours", "mistral-ocr-latest", undefined],
    ["no name", "", undefined],
    ["a bare slash", "/", undefined],
    ["a prefix alone", "models/", openai],
  ])("%s has no price: no guess", async (_, name, baseUrl) => {
    expect(await find(name, baseUrl)).toBeUndefined();
  });
});

describe("the table as a whole", () => {
  const numbersOf = (prices: ModelPrice) =>
    Object.values(prices).flatMap((price) =>
      price === undefined
        ? []
        : typeof price === "number"
          ? [price]
          : [price.base, ...price.tiers.map((tier) => tier.price)],
    );

  test("every number in it converts, and back to the same number", async () => {
    const providers = (await waitForUpdate()) ?? [];
    const numbers = providers
      .flatMap((provider) => provider.models)
      .flatMap(({ prices }) =>
        Array.isArray(prices) ? prices.map((each) => each.prices) : [prices],
      )
      .flatMap(numbersOf);
    expect(numbers.length).toBeGreaterThan(3_000);
    const rounded = new Map<number, string>();
    for (const number of numbers) {
      const { nano, isExact } = toNanoPrice(number);
      if (isExact) expect(Number(toDecimal(nano, 9))).toBe(number);
      else rounded.set(number, toDecimal(nano, 9));
    }
    expect([...rounded].sort()).toEqual([
      [0.08333333333333334, "0.083333334"],
      [0.18000000000000002, "0.180000001"],
    ]);
  });

  test("a number finer than nano-USD is rounded up, and this is told", async () => {
    const found = await find("google/gemini-2.5-flash-lite", openrouter);
    expect(inUsd(found?.price).cache_write).toBe("0.083333334");
    expect(found?.notes).toContain(
      "the public price of 0.08333333333333334 USD (cache_write) is rounded up to nine digits",
    );
  });

  test.each([
    [0, 0n, true],
    [1e-7, 100n, true],
    [1.5e-7, 150n, true],
    [1e-9, 1n, true],
    [1e-10, 1n, false],
    [1.23456789e-5, 12_346n, false],
    [0.1 + 0.2, 300_000_001n, false],
    [123_456.789, 123_456_789_000_000n, true],
  ])("%p USD is %p nano-USD", (usd, nano, isExact) => {
    expect(toNanoPrice(usd)).toEqual({ nano, isExact });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1e21])("%p is no price", (usd) => {
    expect(() => toNanoPrice(usd)).toThrow(RangeError);
  });

  test("no price is below what the package itself asks, at any hour and length", async () => {
    const addresses: Readonly<Record<string, string>> = {
      openai,
      anthropic: "https://api.anthropic.com/v1",
      google: "https://generativelanguage.googleapis.com",
      mistral: "https://api.mistral.ai/v1",
      deepseek: "https://api.deepseek.com",
    };
    const below: string[] = [];
    let compared = 0;
    for (const provider of (await waitForUpdate()) ?? []) {
      const baseUrl = addresses[provider.id];
      for (const { id } of baseUrl === undefined ? [] : provider.models) {
        const found = await find(id, baseUrl);
        if (found === undefined) continue;
        for (let hour = 0; hour < 24; hour++)
          for (const tokens of [1_000, 250_000, 1_000_000]) {
            const timestamp = new Date(Date.UTC(2026, 10, 15, hour, 15));
            const usage = { input_tokens: tokens, output_tokens: tokens };
            const asked = calcPrice(usage, id, { providerId: provider.id, timestamp });
            const output = found.price.output === undefined ? "audio_output" : "output";
            const ours = costOf({ input: tokens, [output]: tokens }, found.price);
            const theirs = (asked?.input_price ?? Infinity) + (asked?.output_price ?? Infinity);
            // Theirs is a sum of floats: a nano-USD of it may be their error.
            if (Number(ours) + 1 < theirs * 1e9)
              below.push(`${provider.id} ${id} ${hour} ${tokens}`);
            compared += 1;
          }
      }
    }
    expect(below).toEqual([]);
    expect(compared).toBeGreaterThan(10_000);
  });

  test("finding a price never goes to the network", async () => {
    const fetched: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = Object.assign(
      (url: unknown) => {
        fetched.push(url);
        return Promise.reject(new Error("no network here"));
      },
      { preconnect: original.preconnect },
    );
    try {
      expect(await find("gpt-4o-mini")).toBeDefined();
      await waitForUpdate();
    } finally {
      globalThis.fetch = original;
    }
    expect(fetched).toEqual([]);
  });
});

describe("a provider whose vendor is known", () => {
  const price = async (query: Partial<PublicPriceQuery>) =>
    inUsd((await findPublicPrice({ model: "", nowMs, ...query }))?.price);

  test("has the same vendor's prices by its id as by its address", async () => {
    const { findProvider } = await import("@pydantic/genai-prices");
    for (const { id, baseUrl } of vendors.filter((one) => one.baseUrl.startsWith("https"))) {
      const byAddress = findProvider({ providerApiUrl: baseUrl.replace("{resource}", "r") })?.id;
      expect([id, findProvider({ providerId: id })?.id]).toEqual([id, byAddress]);
    }
  });

  test("has them wherever its server stands; one that is not known has none", async () => {
    const baseUrl = "https://proxy.example/v1";
    const model = "gpt-4o-mini";
    expect(await price({ model, vendor: "openai", baseUrl })).toMatchObject({ input: "0.15" });
    expect(await price({ model, kind: "openai", baseUrl })).toEqual({});
    const haiku = "anthropic.claude-3-haiku-20240307-v1:0";
    expect(await price({ model: haiku, kind: "bedrock", baseUrl: "" })).toMatchObject({
      input: "0.25",
    });
    expect(await price({ model: "gemini-2.5-flash", kind: "vertex", baseUrl: "" })).toMatchObject({
      input: "0.3",
    });
  });
});
