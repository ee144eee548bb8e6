import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { mostTokens } from "../../call/usage.ts";
import { TokenCounter, type TokenCounterOptions } from "./token-counter.ts";

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
  const each = makers.flatMap((make) => Array.from({ length: 20 }, () => sample(make)));
  const others = Array.from({ length: 40 }, () => [mixed(), runOfOne()]).flat();
  return [...each, ...others];
}

describe("what is counted", () => {
  test("every kind of text has the tokenizer's own count, and no more tokens than bytes", async () => {
    const texts = samples();
    expect(texts.length).toBeGreaterThan(300);
    const counts = await Promise.all(texts.map((text) => shared.count([text])));
    expect(counts).toEqual(texts.map(countDirectly));
    expect(texts.filter((text, at) => (counts[at] ?? Infinity) > bytes(text))).toEqual([]);
  });

  test("the spelling of a special token is text, and costs what its letters cost", async () => {
    const text = "<|endoftext|>";
    expect(await shared.count([text])).toBe(7);
    expect(await shared.count([`a${text}b`, text])).toBe(countDirectly(`a${text}b`) + 7);
  });

  test("several texts are counted one by one and summed; nothing is nothing", async () => {
    expect(await shared.count(["hello world", "", "hello"])).toBe(3);
    expect(await shared.count(["hel", "lo"])).toBe(countDirectly("hel") + countDirectly("lo"));
    const unused = open();
    expect(await unused.count([])).toBe(0);
    expect(await unused.count(["", ""])).toBe(0);
    expect(unused.isRunning).toBe(false);
  });

  const million = 1_000_000;
  // Its tenth is random, and not the whole: the tokenizer takes seconds for what it has not seen.
  test.each([
    ["one letter", "a".repeat(million), 125_000],
    ["spaces", " ".repeat(million), 10_000],
    ["slashes and line ends", "/\n".repeat(million / 2), undefined],
    ["random CJK", many(between(0x4e00, 0x9fff), 33_400).repeat(10), undefined],
    ["random letters", many(between(0x61, 0x7a), million / 10).repeat(10), undefined],
    ["families of emoji", (families[0] ?? "").repeat(40_000), undefined],
    ["accents on one letter", `e${"\u0301".repeat(million / 2)}`, undefined],
    ["lone surrogates", "\ud800".repeat(333_333), undefined],
  ])(
    "a megabyte of %s is really counted, and no more tokens than bytes",
    async (_, text, exact) => {
      const tokens = await shared.count([text]);
      expect(tokens).toBeGreaterThan(0);
      expect(tokens).toBeLessThanOrEqual(bytes(text));
      expect(tokens).not.toBe(mostTokens(bytes(text)));
      if (exact !== undefined) expect(tokens).toBe(exact);
      expect(await shared.count(["hello world"])).toBe(2);
    },
  );

  test("of more than a million characters a part is counted, wherever the heavy text lies", async () => {
    const base64 = many(scripts["base64"] ?? between(0x61, 0x7a), 6_000);
    const sentence = "The quick brown fox jumps over the lazy dog. ";
    const heavy = base64.repeat(100);
    const light = sentence.repeat(60_000);
    const expected = countDirectly(base64) * 100 + countDirectly(sentence) * 60_000;
    for (const texts of [[heavy, light], [light, heavy], [light + heavy]]) {
      const tokens = await shared.count(texts);
      expect(Math.abs(tokens - expected)).toBeLessThan(expected * 0.25);
    }
  });

  test("the cuts in a long run change its count by less than two in a hundred", async () => {
    for (const text of [many(between(0x61, 0x7a), 3_000), many(between(0x4e00, 0x9fff), 3_000)]) {
      const exact = countDirectly(text);
      expect(Math.abs((await shared.count([text])) - exact)).toBeLessThan(exact / 50);
    }
  });
});

describe("the event loop and the process", () => {
  test("the event loop goes on while a large text is counted", async () => {
    await shared.count(["hello"]);
    const order: string[] = [];
    const counted = shared
      .count(["The quick brown fox jumps over the lazy dog. ".repeat(20_000)])
      .then((tokens) => order.push(`counted ${tokens}`));
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    order.push("ten turns");
    await counted;
    expect(order).toEqual(["ten turns", "counted 200001"]);
  });

  test("a worker without work does not keep the process alive", async () => {
    const source = `
      import { TokenCounter } from ${JSON.stringify(join(import.meta.dir, "token-counter.ts"))};
      const counter = new TokenCounter({ limitMs: ${patientMs} });
      const awake = setInterval(() => {}, 1_000);
      console.log(await counter.count(["hello world"]), counter.isRunning);
      clearInterval(awake);`;
    const child = Bun.spawn([process.execPath, "-e", source], { stderr: "inherit" });
    const timer = setTimeout(() => child.kill(), 200_000);
    expect(await child.exited).toBe(0);
    clearTimeout(timer);
    expect(await new Response(child.stdout).text()).toBe("2 true\n");
  });

  test("one worker serves many counts, and another starts after it was idle and ended", async () => {
    const workerUrl = brokenWorker(tellsItsTurn);
    const patient = open({ limitMs: patientMs, workerUrl });
    expect(patient.isRunning).toBe(false);
    expect([await patient.count(["text"]), await patient.count(["text"])]).toEqual([1, 2]);
    expect(patient.isRunning).toBe(true);

    const counter = open({ limitMs: patientMs, idleMs: 1, workerUrl });
    expect(await counter.count(["text"])).toBe(1);
    while (counter.isRunning) await nextTurn();
    expect(await counter.count(["text"])).toBe(1);
  });
});

describe("when it cannot count", () => {
  const text = "hello world";
  const most = mostTokens(bytes(text));
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

  test.each([
    ["throws", `throw new Error("broken");`],
    ["leaves", "process.exit(0);"],
    ["lacks a module", `import "a-module-that-is-not-there";`],
  ])(
    "a worker that %s at its start leaves the most it can be to all who wait",
    async (_, source) => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(source) });
      const all = [counter.count([text]), counter.count([text, text]), counter.count([text])];
      expect(await Promise.all(all)).toEqual([most, mostTokens(2 * bytes(text)), most]);
      expect(counter.isRunning).toBe(false);
      expect(await counter.count([text])).toBe(most);
    },
  );

  test("a worker that is not there leaves the most it can be", async () => {
    const counter = open({ limitMs: patientMs, workerUrl: new URL("file:///no/such/worker.ts") });
    expect(await counter.count([text])).toBe(most);
    const refused = open({ limitMs: patientMs, workerUrl: new URL("gopher://no.such/worker.ts") });
    expect(await refused.count([text])).toBe(most);
  });

  test.each(["throw", "exit", "nonsense", "too many"])(
    "a worker that answers with %p costs only the count it was at",
    async (word) => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(obedient) });
      const all = ["a", word, "bc"].map((each) => counter.count([each]));
      expect(await Promise.all(all)).toEqual([1, mostTokens(word.length), 1]);
    },
  );

  test("a worker that hangs is ended, and another serves those who come after", async () => {
    const counter = open({ limitMs: 500, workerUrl: brokenWorker(obedient) });
    // The text is 40 bytes long, so that the worker's answer and an estimate differ.
    const long = "x".repeat(40);
    while ((await counter.count([long])) !== 1) await nextTurn();
    expect(await counter.count(["hang"])).toBe(mostTokens(4));
    while ((await counter.count([long])) !== 1) await nextTurn();
  });

  test("a worker that never says it is ready keeps nobody waiting past the limit", async () => {
    const counter = open({ limitMs: 20, workerUrl: brokenWorker("setInterval(() => {}, 1_000);") });
    expect(await Promise.all([counter.count([text]), counter.count([text])])).toEqual([most, most]);
  });

  test("the thousand and first who would wait gets the most it can be at once", async () => {
    const silent = brokenWorker("setInterval(() => {}, 1_000);");
    const counter = open({ limitMs: patientMs, workerUrl: silent });
    const order: string[] = [];
    const waiting = Array.from({ length: 1_000 }, async () => {
      await counter.count([text]);
      order.push("waited");
    });
    expect(await counter.count([text])).toBe(most);
    order.push("refused");
    counter.close();
    await Promise.all(waiting);
    expect(order.length).toBe(1_001);
    expect(order[0]).toBe("refused");
  });

  test("more than 32 MB of text in all gets the most it can be at once; less is taken in again", async () => {
    const mega = 1024 * 1024;
    const alone = open();
    expect(await alone.count(["é".repeat(16 * mega), "a"])).toBe(mostTokens(32 * mega + 1));
    expect(alone.isRunning).toBe(false);

    const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(obedient) });
    const first = counter.count(["a".repeat(31 * mega)]);
    expect(await counter.count(["b".repeat(2 * mega)])).toBe(mostTokens(2 * mega));
    expect(await first).toBe(1);
    expect(await counter.count(["b".repeat(2 * mega)])).toBe(1);
  });

  test("those whose caller has gone wait longer, and come after those whose has not", async () => {
    const workerUrl = brokenWorker(`
      let turn = 0;
      parentPort?.on("message", () => parentPort?.postMessage(++turn));
      parentPort?.postMessage("ready");`);
    const counter = open({ limitMs: patientMs, leftLimitMs: patientMs, workerUrl });
    const all = [true, true, false, false].map((isLeft) => counter.count(["some text"], isLeft));
    expect(await Promise.all(all)).toEqual([3, 4, 1, 2]);
    const silent = brokenWorker("setInterval(() => {}, 1_000);");
    const slow = open({ limitMs: 20, leftLimitMs: patientMs, workerUrl: silent });
    let isAnswered = false;
    const left = slow.count([text], true).then(() => {
      isAnswered = true;
    });
    expect(await slow.count([text])).toBe(most);
    expect(isAnswered).toBe(false);
    slow.close();
    await left;
  });

  describe("free counts", () => {
    const long = "word ".repeat(40_000);
    const likely = Math.ceil(bytes(long) / 4);

    test("come after all that are paid for, also after those of callers who have gone", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
      const free = [counter.countFree([text], "a"), counter.countFree([text], "b")];
      const paid = [counter.count([text], true), counter.count([text])];
      expect(await Promise.all([...free, ...paid])).toEqual([3, 4, 2, 1]);
    });

    test("of a long text do not keep one waiting that is paid for", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
      await counter.count([text]);
      const free = counter.countFree([long], "a");
      // One piece is at work already.
      expect(await counter.count([text])).toBe(3);
      expect(await free).toBeGreaterThan(2 + 4 + 5);
    });

    test("in pieces are within a token per piece of the tokenizer's own count", async () => {
      const texts = ["hello", long, "", "end"];
      const exact = texts.map(countDirectly).reduce((sum, tokens) => sum + tokens, 0);
      const counted = await shared.countFree(texts, "a");
      expect(Math.abs(counted - exact)).toBeLessThanOrEqual(7);
    });

    test("beyond four of an account get a likely number at once, and others are counted", async () => {
      const counter = open({ limitMs: patientMs, workerUrl: brokenWorker(tellsItsTurn) });
      const waiting = Array.from({ length: 4 }, () => counter.countFree([text], "a"));
      expect(await counter.countFree([long], "a")).toBe(likely);
      expect(await counter.countFree([text], "b")).toBe(5);
      await Promise.all(waiting);
      expect(await counter.countFree([text], "a")).toBe(6);
    });

    test("that take too long, or whose worker dies, are a likely number", async () => {
      const silent = brokenWorker("setInterval(() => {}, 1_000);");
      const counter = open({ limitMs: 20, workerUrl: silent });
      expect(await counter.countFree([long], "a")).toBeCloseTo(likely, -1);
    });
  });

  test("closing answers those who wait and those who come later with the most it can be", async () => {
    const counter = open();
    const waiting = counter.count([text]);
    counter.close();
    expect(await waiting).toBe(most);
    expect(await counter.count([text])).toBe(most);
    expect(counter.isRunning).toBe(false);
  });
});
