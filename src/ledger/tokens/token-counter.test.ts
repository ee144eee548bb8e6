import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { likelyTokens } from "./likely-tokens.ts";
import { type CountPurpose, TokenCounter, type TokenCounterOptions } from "./token-counter.ts";

/** Long enough that only a hang reaches it, where a test is not about time. */
const patientMs = 50_000;
const folder = mkdtempSync(join(tmpdir(), "svc-tokens-"));
const counters: TokenCounter[] = [];
/** For the tests that need no counter of their own: each start loads the vocabulary anew. */
const shared = new TokenCounter({ limitMs: patientMs });
let workersWritten = 0;

function open(options: TokenCounterOptions = { limitMs: patientMs }): TokenCounter {
  const counter = new TokenCounter(options);
  counters.push(counter);
  return counter;
}

const count = (
  counter: TokenCounter,
  texts: readonly string[],
  { accountId = "acme", purpose = "reply" as CountPurpose } = {},
) => counter.count(texts, { accountId, purpose });

/** A worker that goes wrong in a way that the real one should not. */
function brokenWorker(source: string): URL {
  const path = join(folder, `worker-${++workersWritten}.ts`);
  writeFileSync(path, `import { parentPort } from "node:worker_threads";\n${source}\n`);
  return pathToFileURL(path);
}

const countDirectly = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
const bytes = (text: string) => Buffer.byteLength(text);

const tellsItsTurn = `
  let turn = 0;
  parentPort?.on("message", () => parentPort?.postMessage(++turn));
  parentPort?.postMessage("ready");`;

afterEach(() => {
  for (const counter of counters) counter.close();
});
afterAll(() => {
  shared.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A small generator of numbers from 0 to 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = seeded(20_261_115);
const upTo = (limit: number) => Math.floor(random() * limit);
const pick = <T>(from: ArrayLike<T>): T => from[upTo(from.length)] as T;
const between = (first: number, last: number) => () =>
  String.fromCodePoint(first + upTo(last - first + 1));
const oneOf = (...makers: (() => string)[]) => pick(makers)();
const many = (make: () => string, length: number) => Array.from({ length }, make).join("");
const code = 'const a = (b) => { return b?.c[0] !== "d" && e <= 1e-9; } // x\n\tif (f) {}\n'.split(
  /(?=[ (;])/,
);
const families = ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍💻", "🇨🇭", "❤️‍🔥", "😀", "\u200d", "\ufe0f"];
const special = ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>", "<|", "|>"];

/** Each makes one small piece of text. */
const scripts: Readonly<Record<string, () => string>> = {
  ascii: between(0x20, 0x7e),
  latin: between(0xa1, 0x24f),
  words: () => oneOf(between(0x61, 0x7a), between(0x61, 0x7a), between(0x41, 0x5a), () => " "),
  cjk: between(0x4e00, 0x9fff),
  "rare cjk": between(0x20000, 0x2a6df),
  arabic: between(0x600, 0x6ff),
  emoji: () => pick(families),
  "lone surrogates": () => oneOf(between(0xd800, 0xdfff), between(0x61, 0x7a)),
  "control characters": () => oneOf(between(0, 0x1f), between(0x7f, 0x9f)),
  code: () => pick(code),
  base64: () => pick("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
  "special tokens": () => pick(special),
  "white space": () => pick([" ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "/"]),
};
const makers = Object.values(scripts);
/** Below the 200 characters at which a run is cut, so that the counts must be the same. */
const shorten = (text: string) => Array.from(text).slice(0, 199).join("");
const sample = (make: () => string) => shorten(many(make, 1 + upTo(199)));
const mixed = () => many(() => many(pick(makers), 1 + upTo(20)), 10);
const runOfOne = () => shorten(pick(makers)().repeat(1 + upTo(199)));

function samples(): string[] {
  const each = makers.flatMap((make) => Array.from({ length: 10 }, () => sample(make)));
  const others = Array.from({ length: 20 }, () => [mixed(), runOfOne()]).flat();
  return [...each, ...others];
}

describe("what is counted", () => {
  test("every kind of text has the tokenizer's own count, and no more tokens than bytes", async () => {
    const texts = samples();
    expect(texts.length).toBeGreaterThan(150);
    const counts = await Promise.all(
      texts.map((text, at) => count(shared, [text], { accountId: `account ${at % 8}` })),
    );
    expect(counts).toEqual(texts.map(countDirectly));
    expect(texts.filter((text, at) => (counts[at] ?? Infinity) > bytes(text))).toEqual([]);
  });

  test("the spelling of a special token is text, and costs what its letters cost", async () => {
    const text = "<|endoftext|>";
    expect(await count(shared, [text])).toBe(7);
    expect(await count(shared, [`a${text}b`, text])).toBe(countDirectly(`a${text}b`) + 7);
  });

  test("several texts are counted one by one and summed; nothing is nothing", async () => {
    expect(await count(shared, ["hello world", "", "hello"])).toBe(3);
    expect(await count(shared, ["hel", "lo"])).toBe(countDirectly("hel") + countDirectly("lo"));
    const unused = open();
    expect(await count(unused, [])).toBe(0);
    expect(await count(unused, ["", ""])).toBe(0);
    expect(unused.isRunning).toBe(false);
  });

  const length = 250_000;
  // Its tenth is random, and not the whole: the tokenizer takes seconds for what it has not seen.
  test.each([
    ["one letter", "a".repeat(length), 31_250],
    ["spaces", " ".repeat(length), 2_500],
    ["slashes and line ends", "/\n".repeat(length / 2), undefined],
    ["random CJK", many(between(0x4e00, 0x9fff), 8_350).repeat(10), undefined],
    ["random letters", many(between(0x61, 0x7a), length / 10).repeat(10), undefined],
    ["families of emoji", (families[0] ?? "").repeat(10_000), undefined],
    ["accents on one letter", `e${"\u0301".repeat(length / 2)}`, undefined],
    ["lone surrogates", "\ud800".repeat(83_333), undefined],
  ])(
    "a long text of %s is really counted, and no more tokens than bytes",
    async (_, text, exact) => {
      const tokens = await count(shared, [text]);
      expect(tokens).toBeGreaterThan(0);
      expect(tokens).toBeLessThanOrEqual(bytes(text));
      if (exact !== undefined) expect(tokens).toBe(exact);
      expect(await count(shared, ["hello world"])).toBe(2);
    },
  );

  test("of more than a million characters a part is counted, wherever the heavy text lies", async () => {
    const base64 = many(scripts["base64"] ?? between(0x61, 0x7a), 6_000);
    const sentence = "The quick brown fox jumps over the lazy dog. ";
    const heavy = base64.repeat(100);
    const light = sentence.repeat(60_000);
    const expected = countDirectly(base64) * 100 + countDirectly(sentence) * 60_000;
    for (const texts of [[heavy, light], [light, heavy], [light + heavy]]) {
      const tokens = await count(shared, texts);
      expect(Math.abs(tokens - expected)).toBeLessThan(expected * 0.25);
    }
  });

  test("of a long text in pieces, the count is within a token per piece", async () => {
    const texts = ["hello", "word ".repeat(40_000), "", "end"];
    const exact = texts.map(countDirectly).reduce((sum, tokens) => sum + tokens, 0);
    expect(Math.abs((await count(shared, texts)) - exact)).toBeLessThanOrEqual(7);
  });

  test("the cuts in a long run change its count by less than two in a hundred", async () => {
    for (const text of [many(between(0x61, 0x7a), 3_000), many(between(0x4e00, 0x9fff), 3_000)]) {
      const exact = countDirectly(text);
      expect(Math.abs((await count(shared, [text])) - exact)).toBeLessThan(exact / 50);
    }
  });
});

describe("the event loop and the worker", () => {
  test("the event loop goes on while a large text is counted", async () => {
    await count(shared, ["hello"]);
    const order: string[] = [];
    const sentences = "The quick brown fox jumps over the lazy dog. ".repeat(20_000);
    const counted = count(shared, [sentences]).then(() => order.push("counted"));
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    order.push("ten turns");
    await counted;
    expect(order).toEqual(["ten turns", "counted"]);
  });

  test("one worker serves many counts, and another starts after it was idle and ended", async () => {
    const workerUrl = brokenWorker(tellsItsTurn);
    const patient = open({ limitMs: patientMs, workerUrl });
    expect(patient.isRunning).toBe(false);
    expect([await count(patient, ["text"]), await count(patient, ["text"])]).toEqual([1, 2]);
    expect(patient.isRunning).toBe(true);

    const counter = open({ limitMs: patientMs, idleMs: 1, workerUrl });
    expect(await count(counter, ["text"])).toBe(1);
    while (counter.isRunning) await nextTurn();
    expect(await count(counter, ["text"])).toBe(1);
  });
});

describe("when it cannot count", () => {
  const text = "hello world";
  const likely = likelyTokens([text]);
  const ready = `parentPort?.postMessage("ready");`;
  /** Answers 1, unless the text says what else to do. */
  const obedient = `
    parentPort?.on("message", ([text]: string[]) => {
      if (text === "throw") throw new Error("broken");
      if (text === "exit") process.exit(1);
      if (text === "nonsense") return parentPort?.postMessage({});
      if (text === "too many") return parentPort?.postMessage(text.length + 1);
      while (text === "hang");
      parentPort?.postMessage(1);
    });
    ${ready}`;

  const silent = () => brokenWorker("setInterval(() => {}, 1_000);");
  const countsLetters = `
    parentPort?.on("message", (texts: string[]) => parentPort?.postMessage(texts.join("").length));
    ${ready}`;

  test.each([
    ["throws", `throw new Error("broken");`],
    ["leaves", "process.exit(0);"],
    ["lacks a module", `import "a-module-that-is-not-there";`],
  ])("a worker that %s at its start leaves a likely number to all who wait", async (_, source) => {
    const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(source) });
    const all = [count(counter, [text]), count(counter, [text, text]), count(counter, [text])];
    expect(await Promise.all(all)).toEqual([likely, likelyTokens([text, text]), likely]);
    expect(counter.isRunning).toBe(false);
    expect(await count(counter, [text])).toBe(likely);
  });

  test("a worker that is not there leaves a likely number", async () => {
    const counter = open({ limitMs: patientMs, workerUrl: new URL("file:///no/such/worker.ts") });
    expect(await count(counter, [text])).toBe(likely);
    const refused = open({ limitMs: patientMs, workerUrl: new URL("gopher://no.such/worker.ts") });
    expect(await count(refused, [text])).toBe(likely);
  });

  test.each(["throw", "exit", "nonsense", "too many"])(
    "a worker that answers with %p costs only the count it was at",
    async (word) => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(obedient) });
      const all = ["a", word, "bc"].map((each) => count(counter, [each]));
      expect(await Promise.all(all)).toEqual([1, likelyTokens([word]), 1]);
    },
  );

  test("a worker that hangs is ended, and another serves those who come after", async () => {
    const counter = open({ limitMs: 500, workerUrl: brokenWorker(obedient) });
    // The text is 40 bytes long, so that the worker's answer and an estimate differ.
    const long = "x".repeat(40);
    while ((await count(counter, [long])) !== 1) await nextTurn();
    expect(await count(counter, ["hang"])).toBe(likelyTokens(["hang"]));
    while ((await count(counter, [long])) !== 1) await nextTurn();
  });

  test("a worker that never says it is ready keeps nobody waiting past the limit", async () => {
    const counter = open({ limitMs: 20, workerUrl: silent() });
    const both = [count(counter, [text]), count(counter, [text])];
    expect(await Promise.all(both)).toEqual([likely, likely]);
  });

  const long = "word ".repeat(40_000);

  test("replies come before callers who have gone, except in every fourth turn", async () => {
    const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
    const left = [1, 2].map(() => count(counter, [text], { purpose: "left" }));
    const replies = [1, 2, 3, 4].map(() => count(counter, [text]));
    expect(await Promise.all([...left, ...replies])).toEqual([4, 6, 1, 2, 3, 5]);
  });

  test("callers who have gone wait longer", async () => {
    const slow = open({ limitMs: 20, leftLimitMs: patientMs, workerUrl: silent() });
    let isAnswered = false;
    const left = count(slow, [text], { purpose: "left" }).then(() => {
      isAnswered = true;
    });
    expect(await count(slow, [text])).toBe(likely);
    expect(isAnswered).toBe(false);
    slow.close();
    await left;
  });

  describe("an account with much to count", () => {
    const flooding = { accountId: "flooding" };
    const megabyte = "x".repeat(998_000);

    for (const purpose of ["reply", "left"] as const) {
      test(`${purpose}: takes turns with others, a piece per turn`, async () => {
        const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
        const flood = [1, 2, 3].map(() => count(counter, [long], { ...flooding, purpose }));
        // Behind one turn of the other account, or two if one of them is at work.
        expect(await count(counter, [text], { purpose })).toBe(2);
        expect(await count(counter, [text], { purpose })).toBe(5);
        await Promise.all(flood);
      });

      test(`${purpose}: leaves room for the texts of others`, async () => {
        const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(obedient) });
        const flood = Array.from({ length: 34 }, () =>
          count(counter, [megabyte], { ...flooding, purpose }),
        );
        // Each piece of it is counted as one token; a sample of it would make thousands.
        expect(await count(counter, [megabyte], { purpose })).toBe(31);
        const counted = await Promise.all(flood);
        expect(counted.filter((tokens) => tokens === 31).length).toBe(8);
        expect(counted.filter((tokens) => tokens > 31).length).toBe(26);
      });
    }

    test("has a quarter of the places; the next count of it is a likely number at once", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: silent() });
      const order: string[] = [];
      const wait = async (options: { accountId: string }) => {
        await count(counter, [text], options);
        order.push("waited");
      };
      const waiting = ["a", "b", "c", "d"].flatMap((accountId) =>
        Array.from({ length: accountId === "d" ? 249 : 250 }, () => wait({ accountId })),
      );
      expect(await count(counter, [text], { accountId: "a" })).toBe(likely);
      const last = wait({ accountId: "e" });
      expect(await count(counter, [text], { accountId: "f" })).toBe(likely);
      order.push("refused");
      counter.close();
      await Promise.all([...waiting, last]);
      expect(order.length).toBe(1_001);
      expect(order[0]).toBe("refused");
    });

    test("that fills all room in several accounts leaves others a sample of their text", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(countsLetters) });
      const flood = ["a", "b", "c", "d"].flatMap((accountId) =>
        Array.from({ length: 9 }, () => count(counter, [megabyte], { accountId })),
      );
      expect(await count(counter, [`${long}${long}`])).toBe(400_000);
      await Promise.all(flood);
    });
  });

  test("a sample of a long text is its estimate if the rest takes too long", async () => {
    const workerUrl = brokenWorker(`
      let turn = 0;
      parentPort?.on("message", (texts: string[]) => {
        if (++turn === 1) parentPort?.postMessage(texts.join("").length / 4);
      });
      ${ready}`);
    const counter = open({ limitMs: 1_000, workerUrl });
    expect(await count(counter, ["x".repeat(100_000)])).toBe(25_000);
  });

  const free = (accountId: string) => ({ accountId, purpose: "free" }) as const;
  describe("free counts", () => {
    test("come after all that are paid for, also after those of callers who have gone", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
      const waiting = ["a", "b"].map((accountId) => count(counter, [text], free(accountId)));
      const paid = [count(counter, [text], { purpose: "left" }), count(counter, [text])];
      expect(await Promise.all([...waiting, ...paid])).toEqual([3, 4, 2, 1]);
    });

    test("beyond four of an account get a likely number at once, and others are counted", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
      const waiting = Array.from({ length: 4 }, () => count(counter, [text], free("a")));
      expect(await count(counter, [text], free("a"))).toBe(likely);
      expect(await count(counter, [text], free("b"))).toBe(2);
      await Promise.all(waiting);
      expect(await count(counter, [text], free("a"))).toBe(6);
    });
  });

  test("closing answers those who wait and those who come later with a likely number", async () => {
    const counter = open();
    const waiting = count(counter, [text]);
    counter.close();
    expect(await waiting).toBe(likely);
    expect(await count(counter, [text])).toBe(likely);
    expect(counter.isRunning).toBe(false);
  });
});
