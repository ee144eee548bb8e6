import { expect, test } from "bun:test";
import { receiptOf } from "../../../test/store/ledger-samples.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import type { Rejection } from "../../rejections/rejection.ts";
import { type Listener, Live, type LiveNews, mostListeners, mostOfOneActor } from "./live.ts";

const listener = (options: Partial<Listener> = {}): Listener => ({
  accountId: "a",
  actorId: crypto.randomUUID(),
  tell: () => {},
  recheck: async () => {},
  end: () => {},
  ...options,
});

function openLive() {
  const watchers = new Set<(receipt: Receipt) => void>();
  const rejectionWatchers = new Set<(rejection: Rejection) => void>();
  const live = new Live({ watchers, rejectionWatchers, everyMs: 1 });
  return {
    live,
    watchers,
    reject: (accountId: string, count: number) => {
      for (const tell of rejectionWatchers) tell({ ...rejection, accountId, count });
    },
    write: (...receipts: readonly Receipt[]) => {
      for (const receipt of receipts) for (const tell of watchers) tell(receipt);
    },
    /** The first news of one who listens from now on. */
    async newsOf(accountId: string | undefined, act: () => void): Promise<LiveNews> {
      const { promise, resolve } = Promise.withResolvers<LiveNews>();
      const stop = live.listen(listener({ accountId, tell: resolve }));
      act();
      const news = await promise;
      stop();
      return news;
    },
  };
}

const rejection: Rejection = {
  id: "req_1",
  accountId: "a",
  keyId: "k",
  model: "",
  endpoint: "chat",
  dialect: "chat",
  status: 402,
  code: "insufficient_quota",
  reason: "",
  message: "",
  count: 1,
};

const receipts = (count: number, accountId: string) =>
  Array.from({ length: count }, (_, at) =>
    receiptOf({ id: `req_${String(at).padStart(4, "0")}`, accountId }),
  );

test("while nobody listens no receipt is looked at", () => {
  const { live, watchers } = openLive();
  expect(watchers.size).toBe(0);
  const stops = [live.listen(listener()), live.listen(listener({ accountId: undefined }))];
  expect(watchers.size).toBe(1);
  stops[0]?.();
  expect(watchers.size).toBe(1);
  stops[1]?.();
  expect(watchers.size).toBe(0);
});

test("who listens to an account is told of its receipts alone, the newest first", async () => {
  const { write, newsOf } = openLive();
  const [first, second] = receipts(2, "a");
  const [other] = receipts(1, "b");
  if (first === undefined || second === undefined || other === undefined) throw new Error();
  expect(await newsOf("a", () => write(first, other, second))).toEqual({
    count: 2,
    receipts: [second, first],
    rejected: 0,
  });
  expect(await newsOf(undefined, () => write(first, other, second))).toEqual({
    count: 3,
    receipts: [second, other, first],
    rejected: 0,
  });
});

test("rejected calls are counted, also where no other call came", async () => {
  const { reject, newsOf } = openLive();
  const act = () => {
    reject("a", 1);
    reject("a", 20);
    reject("b", 300);
  };
  expect(await newsOf("a", act)).toEqual({ count: 0, receipts: [], rejected: 21 });
  expect(await newsOf(undefined, act)).toMatchObject({ count: 0, rejected: 321 });
});

test("of very many receipts all are counted and the newest are told", async () => {
  const { write, newsOf } = openLive();
  const many = receipts(1_234, "a");
  const news = await newsOf("a", () => write(...many));
  expect(news.count).toBe(1_234);
  expect(news.receipts).toEqual(many.slice(-50).toReversed());
});

test("who comes later is not told what was before", async () => {
  const { live, write, newsOf } = openLive();
  const [early, late] = receipts(2, "a");
  if (early === undefined || late === undefined) throw new Error();
  live.listen(listener({ accountId: "b" }));
  await newsOf("a", () => write(early));
  expect(await newsOf("a", () => write(late))).toMatchObject({ count: 1, receipts: [late] });
});

test("there is room for so many listeners, and one who leaves makes room", () => {
  const { live } = openLive();
  const stops = Array.from({ length: mostListeners }, () => live.listen(listener()));
  expect(live.hasRoomFor("one more")).toBe(false);
  stops[0]?.();
  expect(live.hasRoomFor("one more")).toBe(true);
  live.close();
});

test("once it is closed nobody is told and nothing is looked at", async () => {
  const { live, watchers, write, newsOf } = openLive();
  let told = 0;
  live.listen(listener({ tell: () => told++ }));
  live.close();
  expect(watchers.size).toBe(0);
  await newsOf("b", () => write(...receipts(1, "a"), ...receipts(1, "b")));
  expect(told).toBe(0);
});

test("who has all that one may have finds room also when there is none", () => {
  const { live } = openLive();
  for (let at = 0; at < mostOfOneActor; at++) live.listen(listener({ actorId: "ada" }));
  for (let at = mostOfOneActor; at < mostListeners; at++) live.listen(listener());
  expect([live.hasRoomFor("ada"), live.hasRoomFor("bob")]).toEqual([true, false]);
  live.listen(listener({ actorId: "ada" }));
  expect(live.hasRoomFor("bob")).toBe(false);
  live.close();
});

test("a recheck has ended when everybody who listens was looked at", async () => {
  const { live } = openLive();
  const looked: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  live.listen(
    listener({
      recheck: async () => {
        await promise;
        looked.push("slow");
      },
    }),
  );
  live.listen(listener({ recheck: async () => void looked.push("quick") }));
  const checked = live.recheck();
  resolve();
  await checked;
  expect(looked).toEqual(["quick", "slow"]);
  live.close();
});
