import { describe, expect, test } from "bun:test";
import { type CountedReceipt, ReasoningUse } from "./reasoning.ts";

const counted = (reasoningTokens: number, changes: Partial<CountedReceipt> = {}) => ({
  model: "m",
  endpoint: "chat" as const,
  estimated: false,
  units: { output: 10 + reasoningTokens },
  reasoningTokens,
  ...changes,
});

describe("the mean", () => {
  test("is of the last hundred counted receipts, rounded up", () => {
    const use = new ReasoningUse();
    expect(use.meanOf("m")).toBe(0);
    use.note(counted(10));
    use.note(counted(11));
    expect(use.meanOf("m")).toBe(11);
    for (let at = 0; at < 99; at++) use.note(counted(0));
    expect(use.meanOf("m")).toBe(1);
    use.note(counted(0));
    expect(use.meanOf("m")).toBe(0);
    for (let at = 0; at < 250; at++) use.note(counted(700));
    expect(use.meanOf("m")).toBe(700);
  });

  test("leaves out what was estimated, what said nothing, other models and other endpoints", () => {
    const use = new ReasoningUse();
    use.note(counted(5, { estimated: true }));
    use.note(counted(5, { units: {} }));
    use.note(counted(5, { endpoint: "speech" }));
    use.note(counted(5, { model: "other" }));
    expect(use.meanOf("m")).toBe(0);
    expect(use.meanOf("other")).toBe(5);
  });
});

describe("work may be hidden", () => {
  test("by a model that was seen to think, and by no other that was seen", () => {
    const use = new ReasoningUse();
    use.note(counted(5));
    use.note(counted(0, { model: "plain" }));
    expect(use.mayHide("m", false, 0)).toBe(true);
    expect(use.mayHide("plain", false, 0)).toBe(false);
  });

  test("by any model that is asked to think", () => {
    const use = new ReasoningUse();
    use.note(counted(0, { model: "plain" }));
    expect([use.mayHide("plain", true, 0), use.mayHide("unknown", true, 0)]).toEqual([true, true]);
  });

  test("by an unknown model that is asked to think, else by one call in eleven", () => {
    const use = new ReasoningUse();
    expect(use.mayHide("m", true, 0)).toBe(true);
    const looks = Array.from({ length: 22 }, () => use.mayHide("m", false, 0));
    expect(looks.filter(Boolean).length).toBe(2);
    expect(looks.indexOf(true)).toBe(10);
  });

  test("by a model that was once seen to think, however many cheap calls come after", () => {
    const use = new ReasoningUse();
    use.note(counted(5));
    for (let at = 0; at < 200; at++) use.note(counted(0));
    expect(use.meanOf("m")).toBe(0);
    expect(use.mayHide("m", false, 0)).toBe(true);
  });

  test("not by one that shows its thoughts, but by one that shows a summary of them", () => {
    const use = new ReasoningUse();
    use.note(counted(1_000));
    expect(use.mayHide("m", true, 20)).toBe(false);
    use.noteShown("m", 1_000, 4_000);
    expect(use.mayHide("m", true, 0)).toBe(false);
    use.noteShown("m", 9_000, 100);
    expect(use.mayHide("m", false, 20)).toBe(true);
  });
});
