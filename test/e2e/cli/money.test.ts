import { beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { chatAnswers } from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";
import { type ChildServer } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { type Refused, refusal, refusesAll } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

interface Entry {
  readonly reference: string;
  readonly amount_usd: string;
  readonly balance_usd: string;
  readonly repeated: boolean;
}

interface Shown {
  readonly balance_usd: string;
  readonly held_usd: string;
  readonly free_usd: string;
  readonly receipts: number;
  readonly spend: Readonly<Record<"by_day" | "by_model" | "by_key", readonly unknown[]>>;
}

const upstream = await useFakeUpstream();
const home = useHome();
beforeEach(async () => {
  upstream.reset();
  upstream.replyWith(chatAnswers.plain());
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  await home.json("account create acme");
});

const words = (line: string) => line.split(" ");
const entry = (line: string) => home.json<Entry>(`account ${line}`);
const show = () => home.json<Shown>("account show acme");
const message = { messages: [{ role: "user" as const, content: "Hi" }], model: "svc-3-flash" };

/** A server with money in the account, and a client with a key of it. */
async function serve(credit: string) {
  await entry(`credit acme ${credit} --reference start`);
  const key = await home.json<{ id: string; key: string }>("key create --account acme --name ci");
  const server = await home.serve({ FAKE_KEY: "x" });
  return { server, key, client: clientOf(server, key.key) };
}
const clientOf = ({ baseUrl }: ChildServer, apiKey: string) =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

describe("without a server", () => {
  test("the same reference twice is one credit; for another amount it is refused", async () => {
    const line = words("account credit acme 12.5 --reference invoice-1");
    await home.json(line);
    expect((await home.svc(line)).stdout).toMatch(/unchanged[^]*balance 12\.50 USD/);
    const other = await home.svc("account credit acme 12.51 --reference invoice-1");
    expect([other.code, other.stdout]).toEqual([4, ""]);
    expect(other.stderr).toContain("credit of 12.50 USD");
  });

  test("credits, withdrawals and refunds keep every digit and add up to the balance", async () => {
    await entry("credit acme 0.000000001");
    await entry("refund acme 2 --reference ticket --note sorry");
    expect((await entry("withdraw acme 1.999999999")).balance_usd).toBe("0.000000002");
    expect(await home.svc("account withdraw acme 0.000000003")).toMatchObject(
      refusal(4, "0.000000002 USD available"),
    );
    const { stdout } = await home.svc("account entries acme");
    expect(stdout).toMatch(/credit +0\.000000001/);
    expect(stdout).toMatch(/refund +2\.00 +ticket +sorry/);
    expect(stdout).toMatch(/withdrawal +-1\.999999999/);
    expect((await home.svc("account list")).stdout).toMatch(/acme +active +0\.000000002/);
    expect((await home.svc("account show acme")).stdout).toMatch(
      /balance +0\.000000002 USD\n +available +0\.000000002 USD\n +held +0\.00 USD/,
    );
  });

  test("limits are set and taken away, and said in words", async () => {
    const set = await home.svc("account limit acme --rpm 60 --budget 5/day");
    expect(set.stdout).toContain("60 requests per minute, 5.00 USD per day");
    const shown = await home.svc("account show acme");
    expect(shown.stdout).toContain("budget     0.00 of 5.00 USD spent this day");
    const none = await home.svc("account limit acme --rpm none --budget none");
    expect(none.stdout).toContain("no limits");
    const { id } = await home.json<{ id: string }>("key create --account acme --tpm 1000");
    const key = await home.json<{ limits: unknown }>(`key limit ${id} --concurrency 3`);
    expect(key.limits).toEqual({ rpm: null, tpm: "1000", concurrency: "3", budget: null });
    expect((await home.svc("key list --wide")).stdout).toContain(
      "1,000 tokens per minute, 3 concurrent",
    );
  });

  test("what is wrong is told with the exit code of its kind and what would be right", async () => {
    const cases: readonly Refused[] = [
      ["account credit acme five", 2, 'such as 25 or 0.50, not "five"'],
      ["account credit none 1", 3, 'Unknown account "none"'],
      ["account limit acme --rpm 0", 2, "--rpm: Requests per minute must be a whole number from 1"],
      ["account limit acme --budget 5/week", 2, "5/day or 12.50/month"],
      ["key limit key_none --rpm 1", 3, 'Unknown key "key_none"'],
      ["report margin --from 2027-02-30", 2, "--from: The date must be a day"],
    ];
    await refusesAll((line) => home.svc(line), cases);
  });
});

describe("beside a running server", () => {
  test("what a call cost is in the balance, in the sums by day, model and key, and in the margin", async () => {
    const { server, key, client } = await serve("5");
    await client.chat.completions.create(message);
    // 11 input tokens, 8 from a cache and 10 of output, at 0.30, 0.03 and 2.50 a million.
    const charged = "0.00002854";
    const left = "4.99997146";

    const row = { receipts: 1, charged_usd: charged };
    expect(await show()).toMatchObject({
      balance_usd: left,
      free_usd: left,
      held_usd: "0.00",
      receipts: 1,
      spend: {
        by_day: [{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), ...row }],
        by_model: [{ model: "svc-3-flash", ...row }],
        by_key: [{ key: key.id, name: "ci", ...row }],
      },
    });
    const { stdout } = await home.svc("account show acme");
    expect(stdout).toMatch(new RegExp(`█{30}  ${charged.replace(".", "\\.")}\n`));
    expect(stdout.match(/^ {2}\d{4}-\d\d-\d\d /gm)).toHaveLength(1);
    const margin = await home.json<{ total: unknown }>("report margin --by account");
    expect(margin.total).toMatchObject({
      ...row,
      vendor_cost_usd: null,
      margin_usd: null,
      unknown_cost: 1,
    });
    expect((await home.svc("report margin")).stdout).toMatch(/svc-3-flash[^]*total/);

    expect(await server.stop()).toBe(0);
    expect(await show()).toMatchObject({ balance_usd: left, receipts: 1 });
    expect(await entry("credit acme 5 --reference start")).toMatchObject({ repeated: true });
  });

  test("suspending and resuming are in force at once", async () => {
    const { client } = await serve("5");
    const call = () => client.chat.completions.create(message);
    expect((await home.svc("account suspend acme")).stdout).toContain("now suspended");
    expect(await thrownBy(call())).toMatchObject({ status: 402, code: "account_suspended" });
    expect((await home.svc("account suspend acme")).stdout).toContain("already suspended");
    await home.json("account resume acme");
    expect((await call()).object).toBe("chat.completion");
  });
});
