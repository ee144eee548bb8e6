import { describe, expect, test } from "bun:test";
import { CallSignal, type Signal, toAbortSignal } from "./signal.ts";

/** Listeners that write down their names. */
function witnesses() {
  const called: string[] = [];
  const named = (name: string) => () => void called.push(name);
  return { called, a: named("a"), b: named("b"), c: named("c") };
}

describe("a call's signal", () => {
  test("calls its listeners in order when it is aborted, after it has its reason", () => {
    const { called, a, b } = witnesses();
    const signal = new CallSignal();
    const seen: unknown[] = [];
    signal.addEventListener("abort", a);
    signal.addEventListener("abort", () => seen.push(signal.aborted, signal.reason));
    signal.addEventListener("abort", b);
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    const reason = new Error("the caller left");
    signal.abort(reason);
    expect(called).toEqual(["a", "b"]);
    expect(seen).toEqual([true, reason]);
  });

  test("is aborted once, with its first reason, even by its own listener", () => {
    const { called, a } = witnesses();
    const signal = new CallSignal();
    signal.addEventListener("abort", () => signal.abort("second"));
    signal.addEventListener("abort", a);
    signal.abort("first");
    signal.abort("third");
    signal.addEventListener("abort", a);
    expect(called).toEqual(["a"]);
    expect(signal.reason).toBe("first");
  });

  test("calls nobody who has gone, and everybody else", () => {
    for (const gone of ["a", "b", "c"] as const) {
      const { called, ...listeners } = witnesses();
      const signal = new CallSignal();
      for (const name of ["a", "b", "c"] as const)
        signal.addEventListener("abort", listeners[name]);
      signal.removeEventListener("abort", listeners[gone]);
      signal.removeEventListener("abort", listeners[gone]);
      signal.abort("reason");
      expect(called).toEqual(["a", "b", "c"].filter((name) => name !== gone));
    }
  });

  test("lets a listener come back", () => {
    const { called, a, b, c } = witnesses();
    const signal = new CallSignal();
    for (const listener of [a, b]) {
      signal.addEventListener("abort", listener);
      signal.removeEventListener("abort", listener);
      signal.addEventListener("abort", listener);
    }
    signal.removeEventListener("abort", c);
    signal.abort("reason");
    expect(called).toEqual(["a", "b"]);
  });

  test("calls a listener once, however often it was added", () => {
    const { called, a, b } = witnesses();
    const signal = new CallSignal();
    for (const listener of [a, a, b, b, a]) signal.addEventListener("abort", listener);
    signal.abort("reason");
    expect(called).toEqual(["a", "b"]);
  });

  test("calls nobody who comes after its end", () => {
    const { called, a } = witnesses();
    const signal = new CallSignal();
    signal.abort("reason");
    signal.addEventListener("abort", a);
    signal.abort("again");
    expect(called).toEqual([]);
  });
});

/** Neither ours nor the runtime's, as tests and packages have them. */
function foreign(): Signal & { abort(reason: unknown): void } {
  const own = new CallSignal();
  return {
    get aborted() {
      return own.aborted;
    },
    get reason() {
      return own.reason;
    },
    addEventListener: (type, listener) => own.addEventListener(type, listener),
    removeEventListener: (type, listener) => own.removeEventListener(type, listener),
    abort: (reason) => own.abort(reason),
  };
}

describe("a signal of the runtime", () => {
  for (const [name, create] of [
    ["a call's signal", () => new CallSignal()],
    ["any other signal", foreign],
  ] as const) {
    test(`ends when ${name} does, with its reason`, () => {
      const signal = create();
      const native = toAbortSignal(signal);
      let calls = 0;
      native.addEventListener("abort", () => calls++);
      expect(native.aborted).toBe(false);
      const reason = new Error("the caller left");
      signal.abort(reason);
      expect([native.aborted, native.reason, calls]).toEqual([true, reason, 1]);
    });

    test(`has ended if ${name} had`, () => {
      const signal = create();
      signal.abort("reason");
      const native = toAbortSignal(signal);
      expect([native.aborted, native.reason]).toEqual([true, "reason"]);
    });
  }

  test("is created once for a call's signal, and is itself for one of the runtime", () => {
    const signal = new CallSignal();
    expect(toAbortSignal(signal)).toBe(signal.native);
    const { signal: native } = new AbortController();
    expect(toAbortSignal(native)).toBe(native);
  });
});
