import { describe, expect, test } from "bun:test";
import { Problem } from "../../base/problem.ts";
import { Asker, readChoice } from "./ask.ts";

function askerOf(pieces: readonly (string | Uint8Array)[], signal = new AbortController().signal) {
  const written: string[] = [];
  async function* input() {
    yield* pieces;
  }
  const asker = new Asker({ input: input(), write: (text) => written.push(text), signal });
  return { asker, text: () => written.join("") };
}

const word = { offered: "", read: (answer: string) => answer };

describe("questions", () => {
  test("take a line each, also when several were pasted at once or a line came in pieces", async () => {
    const { asker } = askerOf(["one\ntwo\r\nth", "ree\n"]);
    expect(await asker.ask({ question: "?", ...word })).toBe("one");
    expect(await asker.ask({ question: "?", ...word })).toBe("two");
    expect(await asker.ask({ question: "?", ...word })).toBe("three");
  });

  test("keep a letter whole that was cut in two on the way", async () => {
    const bytes = new TextEncoder().encode("zürich\n");
    const { asker } = askerOf([bytes.slice(0, 2), bytes.slice(2)]);
    expect(await asker.ask({ question: "?", ...word })).toBe("zürich");
  });

  test("an empty answer takes what is offered, and the offer is shown", async () => {
    const { asker, text } = askerOf(["\n"]);
    expect(await asker.ask({ question: "Markup?", offered: "0", read: Number })).toBe(0);
    expect(text()).toContain("[0]");
  });

  test("a wrong answer is asked again, with what is wrong", async () => {
    const { asker, text } = askerOf(["maybe\n", "y\n"]);
    expect(await asker.confirm("Write it?", false)).toBe(true);
    expect(text()).toContain("Answer yes or no.");
    expect(text().match(/Write it\?/g)).toHaveLength(2);
  });

  test("a fault of ours is not taken for a wrong answer", async () => {
    const { asker } = askerOf(["x\n", "y\n"]);
    const read = () => {
      throw new TypeError("broken");
    };
    await expect(asker.ask({ question: "?", offered: "", read })).rejects.toThrow(TypeError);
  });

  test("end when the terminal does", async () => {
    const { asker } = askerOf(["one\n"]);
    await asker.ask({ question: "?", ...word });
    await expect(asker.ask({ question: "?", ...word })).rejects.toThrow("nothing was written");
  });

  test("end by ctrl-c although nothing is typed any more", async () => {
    const controller = new AbortController();
    async function* silence() {
      await new Promise(() => {});
      yield "";
    }
    const asker = new Asker({ input: silence(), write: () => {}, signal: controller.signal });
    const asked = asker.ask({ question: "?", ...word });
    controller.abort();
    await expect(asked).rejects.toThrow("nothing was written");
  });
});

describe("a choice from a numbered list", () => {
  const names = ["openai", "groq", "ollama", "llama3.2:3b", "5"];

  test("takes numbers, ranges, names, all and none, in any mix", () => {
    expect(readChoice("2", names)).toEqual([1]);
    expect(readChoice("3, 1", names)).toEqual([0, 2]);
    expect(readChoice("1-3 2", names)).toEqual([0, 1, 2]);
    expect(readChoice("llama3.2:3b,1", names)).toEqual([0, 3]);
    expect(readChoice("all", names)).toEqual([0, 1, 2, 3, 4]);
    expect(readChoice("none", names)).toEqual([]);
  });

  test("refuses what is not in the list, and says what is", () => {
    for (const wrong of ["0", "6", "3-1", "2-9", "gemini", "-1", "", "all 1"])
      expect(() => readChoice(wrong, names)).toThrow(Problem);
    expect(() => readChoice("gemini", names)).toThrow("from 1 to 5");
  });
});
