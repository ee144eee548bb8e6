import { expect, test } from "bun:test";
import { type Change, type ChangeFeed, FeedFollower } from "./feed.ts";

/** A feed of numbers that keeps the last three; a process follows it. */
function setUp() {
  let newest = 5;
  let stamp = "first";
  const feed: ChangeFeed = {
    latest: async () => newest,
    newest: async () => ({ sequence: newest, stamp }),
    since: async (sequence, from) =>
      from !== stamp || newest - sequence > 3
        ? undefined
        : Array.from({ length: newest - sequence }, (_, at) => changeOf(sequence + at + 1)),
  };
  const changeOf = (sequence: number): Change => ({
    sequence,
    stamp,
    topic: "keys",
    subject: String(sequence),
  });
  const events: string[] = [];
  const reloads: PromiseWithResolvers<void>[] = [];
  const follower = new FeedFollower(feed, {
    changed: async (changes) => void events.push(...changes.map(({ subject }) => subject)),
    async endStale() {
      events.push("ended");
    },
    async reloadAll() {
      events.push("all");
      const reload = Promise.withResolvers<void>();
      reloads.push(reload);
      await reload.promise;
    },
  });
  const settle = async () => {
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  };
  return {
    events,
    follower,
    async start() {
      const started = follower.start();
      await settle();
      reloads.shift()?.resolve();
      await started;
    },
    advance(by: number, another = stamp) {
      newest += by;
      stamp = another;
    },
    async end(fail = false) {
      const reload = reloads.shift();
      if (fail) reload?.reject(new Error("away"));
      else reload?.resolve();
      await settle();
    },
    isAtNewest: () => follower.isAt({ sequence: newest, stamp }),
  };
}

test("who is far behind ends what has ended, goes on, and reads everything beside that", async () => {
  const { events, follower, start, advance, end, isAtNewest } = setUp();
  await start();
  expect([isAtNewest(), follower.seen]).toEqual([true, 5]);
  advance(10);
  await follower.catchUp();
  expect(events).toEqual(["all", "ended", "all"]);
  // Others that wait until all have a change go on waiting.
  expect([isAtNewest(), follower.seen]).toEqual([false, 0]);
  advance(2);
  await follower.catchUp();
  expect(events.splice(0)).toEqual(["all", "ended", "all", "16", "17"]);
  await end();
  expect([isAtNewest(), follower.seen]).toEqual([true, 17]);
});

test("numbers that were given again after a failover are another history", async () => {
  const { events, follower, start, advance, end, isAtNewest } = setUp();
  await start();
  for (const by of [0, 1, -3]) {
    advance(by, `failover ${by}`);
    expect(isAtNewest()).toBe(false);
    events.length = 0;
    await follower.catchUp();
    expect(events).toEqual(["ended", "all"]);
    await end();
    expect(isAtNewest()).toBe(true);
  }
});

test("a reading that fails, or began before the last failover, is done again", async () => {
  const { events, follower, start, advance, end, isAtNewest } = setUp();
  await start();
  advance(10);
  await follower.catchUp();
  await end(true);
  expect(isAtNewest()).toBe(false);
  await follower.catchUp();
  expect(events.splice(0)).toEqual(["all", "ended", "all", "all"]);
  advance(10);
  await follower.catchUp();
  await end();
  expect(isAtNewest()).toBe(false);
  await follower.catchUp();
  expect(events).toEqual(["ended", "all"]);
  await end();
  expect(isAtNewest()).toBe(true);
});
