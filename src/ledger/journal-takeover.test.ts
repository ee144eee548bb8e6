import { describe, expect, test } from "bun:test";
import { release, setUp, turn, watch } from "../../test/store/journal-samples.ts";
import { receiptOf, write } from "../../test/store/ledger-samples.ts";
import { maxBatch } from "./journal.ts";
import { FencedError, NotSyncedError, UnconfirmedError } from "./store.ts";

const receiptWrite = (id: string) => write(receiptOf({ id }));

describe("a store that another process has taken over", () => {
  test("is offered what is in line once, and lets no call in", async () => {
    const { journal, next, commits, lines } = setUp();
    const first = watch(journal.append(receiptWrite("a"), true));
    const commit = await next();
    const others = [watch(journal.append(receiptWrite("b"))), watch(journal.append(release("c")))];
    commit.fail(new FencedError());
    const last = await next();
    expect(last.ids).toEqual(["b", "c"]);
    expect(journal.isFailing).toBe(true);
    last.fail(new Error("the store is away as well"));
    await turn();
    expect([first, ...others].map(({ now }) => now)).toEqual(Array(3).fill("taken back"));
    const late = watch(journal.append(receiptWrite("d")));
    journal.probe();
    (await next()).fail(new FencedError());
    await turn();
    expect(late.now).toBe("taken back");
    expect(await journal.idle(1_000)).toEqual([]);
    expect({ commits, lines }).toEqual({ commits: [], lines: [] });
  });

  test("still releases what stood before it, and stays closed after", async () => {
    const { journal, next } = setUp();
    const before = watch(journal.append(receiptWrite("a")));
    const one = await next();
    const rest = Array.from({ length: maxBatch }, (_, at) =>
      watch(journal.append(release(`w${at}`))),
    );
    (await next()).fail(new FencedError());
    await turn();
    expect(new Set(rest.map(({ now }) => now))).toEqual(new Set(["taken back"]));
    one.succeed();
    await turn();
    expect(before.now).toBe("written");
    expect(journal.isFailing).toBe(true);
  });

  test("is asked to undo what may stand though its caller got an error, until it has answered", async () => {
    const { journal, next, failNext } = setUp();
    const state = watch(journal.append(receiptWrite("a"), true));
    await failNext(new UnconfirmedError("no answer"));
    (await next()).fail(new FencedError());
    await turn();
    expect(state.now).toBe("taken back");
    await failNext(new UnconfirmedError("no answer again"));
    const undone = await next();
    expect(undone.ids).toEqual(["void a"]);
    undone.fail(new FencedError());
    await turn();
    expect(await journal.idle(1_000)).toEqual([]);
  });

  test("takes back nothing that stands and was never confirmed", async () => {
    const { journal, next, failNext } = setUp();
    const state = watch(journal.append(receiptWrite("a"), true));
    await failNext(new NotSyncedError("disk"));
    (await next()).fail(new FencedError());
    await turn();
    expect(state.now).toBe("owed");
  });
});

describe("a journal that is asked to probe", () => {
  test("writes as much as a receipt needs, and fails until that succeeds", async () => {
    const { journal, next, failNext, lines } = setUp();
    journal.probe();
    await failNext();
    expect(journal.isFailing).toBe(true);
    const again = await next();
    expect(again.ids).toEqual(["probe"]);
    again.succeed();
    (await next()).succeed();
    await turn();
    expect(journal.isFailing).toBe(false);
    expect(lines.map((line) => line.split(":")[0])).toEqual(["error", "info"]);
  });
});
