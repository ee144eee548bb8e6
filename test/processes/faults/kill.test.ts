import { afterAll, beforeAll, expect, test } from "bun:test";
import { KillCampaign } from "../../faults/kill/kill-campaign.ts";

/** The steps that differ most; `npm run test:faults` kills at all of them, many times. */
const steps = [
  "in-transaction",
  // The receipt is on the disk, and its reply is not out.
  "after-sync",
  "mid-stream",
] as const;
let campaign: KillCampaign;
const totals = { whole: 0, broken: 0, receiptsWithoutReply: 0, repeats: 0 };

beforeAll(async () => {
  campaign = await KillCampaign.start({ seed: 11, callers: 8, callsEach: 6 });
});
afterAll(() => campaign.stop());

test.each(steps)(
  "killed at %s: what came whole has one receipt, nothing is charged twice, nothing stays held",
  async (step) => {
    const { problems, ...result } = await campaign.round(step);
    expect(problems).toEqual([]);
    expect(result.broken).toBeGreaterThan(0);
    totals.whole += result.whole;
    totals.broken += result.broken;
    totals.receiptsWithoutReply += result.receiptsWithoutReply;
    totals.repeats += result.repeats;
  },
);

test("the rounds had whole replies, broken ones, and some that were paid for and not yet out", () => {
  for (const [what, count] of Object.entries(totals))
    expect({ what, isSome: count > 0 }).toEqual({ what, isSome: true });
});

test("after all of these crashes it stops as it should, and `svc ledger verify` finds every sum right", async () => {
  expect(await campaign.stopServer()).toBe(0);
  const { code, stdout } = await campaign.svc(["ledger", "verify", "--json"]);
  expect({ code, findings: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    findings: { ok: true, problem_count: 0 },
  });
});
