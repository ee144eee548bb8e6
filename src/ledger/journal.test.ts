import { describe, expect, test } from "bun:test";
import { diskFull, release, setUp, turn, watch } from "../../test/store/journal-samples.ts";
import { receiptOf, write } from "../../test/store/ledger-samples.ts";
import { maxBatch } from "./journal.ts";
import { type LedgerWrite, NotSyncedError, UnwritableError } from "./store.ts";

const receiptWrite = (id: string) => write(receiptOf({ id }));

describe("what is appended", () => {
  test("in one turn is one commit, in its order, and is released when that is durable", async () => {
    const { journal, next } = setUp();
    const states = ["a", "b", "c"].map((id) => watch(journal.append(receiptWrite(id))));
    const commit = await next();
    expect(commit.ids).toEqual(["a", "b", "c"]);
    await turn();
    expect(states.map(({ now }) => now)).toEqual(["waiting", "waiting", "waiting"]);
    commit.succeed();
    await turn();
    expect(states.map(({ now }) => now)).toEqual(["written", "written", "written"]);
  });

  test("while a commit is under way gathers over several turns, and follows it as one", async () => {
    const { journal, next, commits } = setUp();
    const first = watch(journal.append(release("a")));
    const one = await next();
    const others = [];
    for (const id of ["b", "c"]) {
      others.push(watch(journal.append(release(id))));
      await turn();
    }
    expect(commits).toEqual([]);
    one.succeed();
    const other = await next();
    expect(other.ids).toEqual(["b", "c"]);
    expect(first.now).toBe("written");
    expect(others.map(({ now }) => now)).toEqual(["waiting", "waiting"]);
    other.succeed();
    await turn();
    expect(others.map(({ now }) => now)).toEqual(["written", "written"]);
  });

  test("while a commit is under way does not wait for it once a whole batch is there", async () => {
    const { journal, next } = setUp();
    const first = watch(journal.append(release("a")));
    const one = await next();
    const rest = Array.from({ length: maxBatch }, (_, at) =>
      watch(journal.append(release(`w${at}`))),
    );
    const other = await next();
    expect(other.ids).toHaveLength(maxBatch);
    other.succeed();
    await turn();
    expect(new Set(rest.map(({ now }) => now))).toEqual(new Set(["written"]));
    expect(first.now).toBe("waiting");
    one.succeed();
    await turn();
    expect(first.now).toBe("written");
  });

  test("in great number is written over several turns, all of it and in its order", async () => {
    const { journal, next } = setUp();
    const ids = Array.from({ length: 2 * maxBatch + 6 }, (_, at) => `w${at}`);
    const all = Promise.all(ids.map((id) => journal.append(release(id))));
    const batches: (readonly string[])[] = [];
    while (batches.flat().length < ids.length) {
      const commit = await next();
      batches.push(commit.ids);
      commit.succeed();
    }
    await all;
    expect(batches.flat()).toEqual(ids);
    expect(batches.map(({ length }) => length)).toEqual([maxBatch, maxBatch, 6]);
  });

  test("of large replies only a few go into one commit, and each of them goes", async () => {
    const { journal, next } = setUp();
    const large = (id: string, sizeBytes: number): LedgerWrite => {
      const of = receiptWrite(id);
      if (of.type !== "receipt") return of;
      const claim = { id, bodyHash: "", requestId: id, isDone: true, expiresAtMs: 1 };
      return { ...of, claim: { ...claim, reply: new Uint8Array(sizeBytes) } };
    };
    const sizes = [100_000, 100_000, 100_000, 1_000_000, 10, 10];
    const all = Promise.all(sizes.map((size, at) => journal.append(large(`r${at}`, size))));
    const batches: number[] = [];
    for (let written = 0; written < sizes.length; ) {
      const { ids, succeed } = await next();
      batches.push(ids.length);
      written += ids.length;
      succeed();
    }
    await all;
    expect(batches).toEqual([2, 1, 1, 2]);
  });
});

describe("while the store fails", () => {
  test("nothing is lost: it is tried again, in its order, until it is written", async () => {
    const { journal, next, failNext, lines } = setUp();
    const first = watch(journal.append(receiptWrite("a")));
    await failNext();
    expect(journal.isFailing).toBe(true);
    const second = watch(journal.append(receiptWrite("b")));
    const again = await next();
    expect(again.ids).toEqual(["a", "b"]);
    again.fail(diskFull);
    const last = await next();
    expect(last.ids).toEqual(["a", "b"]);
    expect([first.now, second.now]).toEqual(["waiting", "waiting"]);
    last.succeed();
    await turn();
    expect([first.now, second.now]).toEqual(["written", "written"]);
    expect(journal.isFailing).toBe(false);
    expect(lines).toEqual([
      "error: ledger is not writable: rejecting calls until it is",
      "info: ledger is writable again",
    ]);
  });

  test("what came while it was tried again stands behind it", async () => {
    const { journal, next, failNext } = setUp();
    watch(journal.append(release("a")));
    await failNext();
    const again = await next();
    watch(journal.append(release("b")));
    again.fail(diskFull);
    const commit = await next();
    expect(commit.ids).toEqual(["a", "b"]);
    commit.succeed();
  });

  test("one batch at a time asks whether it still does", async () => {
    const { journal, next, commits } = setUp();
    const ids = Array.from({ length: 2 * maxBatch + 6 }, (_, at) => `w${at}`);
    const all = Promise.all(ids.map((id) => journal.append(release(id))));
    const under = [await next(), await next()];
    for (const commit of under) commit.fail(diskFull);
    const again = await next();
    expect(again.ids).toHaveLength(maxBatch);
    // Longer than until the next try, were there another.
    await new Promise((resolve) => setTimeout(resolve, 3));
    await turn();
    expect(commits).toEqual([]);
    again.succeed();
    (await next()).succeed();
    (await next()).succeed();
    await all;
  });

  test("what came in between is written at once when it recovers", async () => {
    const { journal, next, failNext, commits } = setUp();
    const first = watch(journal.append(release("a")));
    await failNext();
    const again = await next();
    const second = watch(journal.append(release("b")));
    await turn();
    expect(commits).toEqual([]);
    again.succeed();
    const last = await next();
    expect(last.ids).toEqual(["b"]);
    last.succeed();
    await turn();
    expect([first.now, second.now]).toEqual(["written", "written"]);
    const third = watch(journal.append(release("c")));
    (await next()).succeed();
    await turn();
    expect(third.now).toBe("written");
  });

  test("who may go is sent away after the patience, and what is owed stays in line", async () => {
    const { journal, next, failNext, commits, clock } = setUp();
    const free = watch(journal.append(receiptWrite("free"), true));
    const owed = watch(journal.append(receiptWrite("owed")));
    await failNext();
    clock.ms += 99;
    await failNext();
    expect([free.now, owed.now]).toEqual(["waiting", "waiting"]);
    clock.ms += 1;
    await failNext();
    const commit = await next();
    expect([free.now, owed.now]).toEqual(["taken back", "owed"]);
    expect(commit.ids).toEqual(["owed"]);
    commit.succeed();
    await turn();
    expect(journal.isFailing).toBe(false);
    await journal.idle(1e8);
    expect(commits).toEqual([]);
  });

  test("who comes when the patience is over is told with the next try", async () => {
    const { journal, next, failNext, clock } = setUp();
    watch(journal.append(release("a")));
    await failNext();
    clock.ms += 500;
    const late = watch(journal.append(release("b"), true));
    await failNext();
    const commit = await next();
    expect(late.now).toBe("taken back");
    expect(commit.ids).toEqual(["a"]);
    commit.succeed();
  });

  test("what stands but was not confirmed is never taken back: who may go waits for the disk", async () => {
    const { journal, next, failNext, commits, clock } = setUp();
    const free = watch(journal.append(receiptWrite("a"), true));
    const owed = watch(journal.append(receiptWrite("b")));
    await failNext(new NotSyncedError("no", { cause: new Error("EIO") }));
    clock.ms += 500;
    // Also when another try fails in another way.
    await failNext();
    const commit = await next();
    expect([free.now, owed.now]).toEqual(["waiting", "owed"]);
    expect(commit.ids).toEqual(["a", "b"]);
    commit.succeed();
    await turn();
    expect(free.now).toBe("written");
    await journal.idle(1e8);
    expect(commits).toEqual([]);
  });

  test("several commits under way come back into line without losing one", async () => {
    const { journal, next } = setUp();
    const ids = Array.from({ length: 130 }, (_, at) => `w${at}`);
    const all = Promise.all(ids.map((id) => journal.append(release(id))));
    const [one, other] = [await next(), await next()];
    one.fail(diskFull);
    other.fail(diskFull);
    const written: string[] = [];
    while (written.length < ids.length) {
      const again = await next();
      written.push(...again.ids);
      again.succeed();
    }
    await all;
    expect(written.toSorted()).toEqual(ids.toSorted());
  });

  test("an empty line asks again until it can be written", async () => {
    const { journal, next, failNext, clock, commits } = setUp();
    const state = watch(journal.append(release("a"), true));
    clock.ms += 1;
    await failNext();
    clock.ms += 500;
    await failNext();
    const probe = await next();
    expect(state.now).toBe("taken back");
    expect(probe.ids).toEqual(["probe"]);
    expect(journal.isFailing).toBe(true);
    probe.fail(diskFull);
    const second = await next();
    expect(second.ids).toEqual(["probe"]);
    second.succeed();
    const end = await next();
    expect(end.ids).toEqual(["end of the probe"]);
    expect(journal.isFailing).toBe(true);
    end.succeed();
    await turn();
    expect(journal.isFailing).toBe(false);
    await turn();
    expect(commits).toEqual([]);
  });

  test("a store that takes probes gets a few calls, and more with each probe", async () => {
    const { journal, next, failNext, clock } = setUp();
    const callers = Array.from({ length: 50 }, (_, at) => `account ${at}`);
    const probed = async () => {
      for (let commit = 0; commit < 2; commit++) (await next()).succeed();
      await turn();
      return callers.filter((id) => journal.admits(id)).length;
    };
    const call = watch(journal.append(receiptWrite("r"), true));
    await failNext();
    clock.ms += 100;
    await failNext();
    expect([call.now, await probed()]).toEqual(["taken back", 1]);
    await failNext();
    expect([journal.isFailing, journal.admits("a")]).toEqual([true, false]);
    // None of the calls that are admitted ends, so there is no receipt.
    const rounds = [];
    for (let round = 0; round < 7; round++) rounds.push(await probed());
    expect(rounds).toEqual([1, 2, 4, 8, 16, 32, 50]);
  });

  test("the patience begins anew with each failure", async () => {
    const { journal, next, failNext, clock } = setUp();
    watch(journal.append(release("a")));
    await failNext();
    (await next()).succeed();
    await turn();
    clock.ms += 10_000;
    const state = watch(journal.append(release("b"), true));
    await failNext();
    const again = await next();
    expect(state.now).toBe("waiting");
    again.succeed();
    await turn();
    expect(state.now).toBe("written");
  });
});

describe("a write that the store can never take", () => {
  const tooMuch = new UnwritableError("too much");

  test("is dropped alone: what came with it is written", async () => {
    const { journal, next, lines } = setUp();
    const states = ["a", "b", "c"].map((id) => watch(journal.append(receiptWrite(id))));
    (await next()).fail(tooMuch);
    for (const id of ["a", "b", "c"]) {
      const commit = await next();
      expect(commit.ids).toEqual([id]);
      if (id === "b") commit.fail(tooMuch);
      else commit.succeed();
    }
    await turn();
    expect(states.map(({ now }) => now)).toEqual(["written", "taken back", "written"]);
    expect(journal.isFailing).toBe(false);
    expect(lines).toEqual(["error: ledger write dropped"]);
    await journal.idle(1e8);
  });

  test("does not keep waiting what gathered while it was tried", async () => {
    const { journal, next } = setUp();
    const bad = watch(journal.append(receiptWrite("a")));
    const commit = await next();
    const gathered = watch(journal.append(receiptWrite("b")));
    await turn();
    commit.fail(tooMuch);
    const following = await next();
    expect(following.ids).toEqual(["b"]);
    following.succeed();
    await turn();
    expect([bad.now, gathered.now]).toEqual(["taken back", "written"]);
  });

  test("does not keep the journal from recovering, though it is all that is in line", async () => {
    const { journal, next, failNext } = setUp();
    const bad = watch(journal.append(release("a")));
    await failNext();
    const again = await next();
    const later = watch(journal.append(release("b")));
    again.fail(tooMuch);
    const commit = await next();
    expect(bad.now).toBe("taken back");
    expect(journal.isFailing).toBe(false);
    expect(commit.ids).toEqual(["b"]);
    commit.succeed();
    await turn();
    expect(later.now).toBe("written");
  });
});

describe("being idle", () => {
  const longMs = 1e8;

  test("is when everything is written, what is under way included", async () => {
    const { journal, next } = setUp();
    const state = watch(journal.append(release("a")));
    let isIdle = false;
    const idle = journal.idle(longMs).then(() => (isIdle = true));
    const commit = await next();
    await turn();
    expect(isIdle).toBe(false);
    commit.succeed();
    await idle;
    expect(state.now).toBe("written");
  });

  test("is not while any commit is under way", async () => {
    const { journal, next } = setUp();
    for (let at = 0; at < 2 * maxBatch; at++) watch(journal.append(release(`w${at}`)));
    const [one, other] = [await next(), await next()];
    let isIdle = false;
    const idle = journal.idle(longMs).then(() => (isIdle = true));
    one.succeed();
    await turn();
    expect(isIdle).toBe(false);
    other.succeed();
    await idle;
  });

  test("is when all were sent away", async () => {
    const { journal, next, failNext, clock } = setUp();
    watch(journal.append(release("a"), true));
    const idle = journal.idle(longMs);
    await failNext();
    clock.ms += 500;
    await failNext();
    await idle;
    (await next()).succeed();
  });

  test("is not waited for longer than was said: what is on its way is in doubt then", async () => {
    const { journal, next } = setUp();
    watch(journal.append(release("a")));
    expect(await journal.idle(1)).toEqual([{ write: release("a"), isDoubtful: true }]);
    (await next()).succeed();
  });
});
