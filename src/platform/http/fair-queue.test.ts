import { expect, test } from "bun:test";
import { FairQueue } from "./fair-queue.ts";

/** Questions that are answered when the test says so. */
function openQueue(limits = { maxRunning: 2, maxWaiting: 3 }) {
  const share = new FairQueue(limits);
  const begun: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<string>>();
  return {
    begun,
    ask: (name: string, question: string) => {
      const answer = Promise.withResolvers<string>();
      answers.set(question, answer);
      return share.run(name, () => {
        begun.push(question);
        return answer.promise;
      });
    },
    answer: (question: string) => answers.get(question)?.resolve(question),
    fail: (question: string) => answers.get(question)?.reject(new Error(question)),
  };
}

test("one asker has so many at work, the others wait in their order, and none is lost", async () => {
  const { begun, ask, answer, fail } = openQueue();
  const all = ["a", "b", "c", "d", "e"].map((question) => ask("ada", question));
  expect(begun).toEqual(["a", "b"]);
  answer("b");
  expect(await all[1]).toBe("b");
  expect(begun).toEqual(["a", "b", "c"]);
  fail("a");
  await expect(all[0]).rejects.toThrow("a");
  expect(begun).toEqual(["a", "b", "c", "d"]);
  for (const question of ["c", "d", "e"]) answer(question);
  expect(await Promise.all(all.slice(2))).toEqual(["c", "d", "e"]);
});

test("who comes as a place becomes free does not push in before who waits", async () => {
  const { begun, ask, answer } = openQueue({ maxRunning: 1, maxWaiting: 3 });
  const first = ask("ada", "a");
  void ask("ada", "b");
  answer("a");
  await first;
  void ask("ada", "c");
  expect(begun).toEqual(["a", "b"]);
});
