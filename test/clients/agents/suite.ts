import { afterAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import type { PaidReceipt } from "../../setup/money-home.ts";
import { type Agent, nameOf, type Scenario } from "./agent.ts";
import {
  commandOutput,
  fullTokens,
  lastWords,
  noteAfter,
  summary,
  type TurnUsage,
} from "./conversation.ts";
import { bodyOf, type Played, play } from "./play.ts";

/** Nano-USD per token, and the same in USD per million, as svc.yaml has it. */
const price = { input: 300n, cached: 30n, output: 2_500n } as const;
const priceEntry = '{ input: "0.30", cached_input: "0.03", output: "2.50" }';

/** The checks of one agent: each scenario runs once, and its checks look at what became of it. */
export function agentSuite(agent: Agent): void {
  describe(agent.client, () => {
    for (const scenario of agent.scenarios) checkScenario(agent, scenario);
  });
}

function checkScenario(agent: Agent, scenario: Scenario): void {
  const { vendor, model } = scenario;
  const open: TestGateway[] = [];
  afterAll(async () => {
    for (const gateway of open) await gateway.stop();
  });
  const begin = async () => {
    const gateway = await startTestGateway({ manifest: manifestOf(scenario) });
    open.push(gateway);
    return play({ agent, scenario, gateway });
  };
  let run: Promise<Played> | undefined;
  const played = () => {
    run ??= begin();
    return run;
  };

  if (scenario.full !== undefined) return checkCompaction(agent, scenario, played);

  test(nameOf(agent, scenario, "work"), async () => {
    const { code, output, note, requests, refused, report, turns } = await played();
    expect({ code, note }, output).toEqual({ code: 0, note: noteAfter });
    expect(report().lastWords).toBe(lastWords);
    expect(requests.map(({ path }) => path.split("?")[0])).toEqual(turns.map(() => vendor.path));
    // The gateway learns from the first refusal.
    expect(refused).toHaveLength(vendor.refuse === undefined ? 0 : 1);
    const { results } = vendor.toHistory(bodyOf(requests.at(-1)));
    expect(results.get("call_show_4")).toContain(commandOutput);
    expect(results.get("call_show_4")).toContain(noteAfter.trim());
  });

  test(nameOf(agent, scenario, "history"), async () => {
    const { requests, turns, output } = await played();
    const { calls, signatures, results } = vendor.toHistory(bodyOf(requests.at(-1)));
    const made = turns.flatMap((turn) => turn.calls);
    expect(calls, output).toEqual(made.map(({ id, name }) => `${id} ${name}`));
    expect([...results.keys()].toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    const signed = turns.map(({ signature }) => signature).filter((signature) => signature !== "");
    expect(signatures).toEqual(vendor.signs ? signed : []);
  });

  test(nameOf(agent, scenario, "receipts"), async () => {
    const { payer, requests, turns, output } = await played();
    expect(requests.length, output).toBe(turns.length);
    const receipts = await payer.settled(turns.length);
    const { dialect } = agent;
    expect(receipts.map(shownOf)).toEqual(
      turns.map(({ usage }) => expectedOf({ model, dialect, usage })),
    );
  });

  test(nameOf(agent, scenario, "usage"), async () => {
    const { report, turns } = await played();
    const { usage } = report();
    const sumOf = (name: "input" | "cached" | "output" | "reasoning") =>
      turns.reduce((sum, turn) => sum + turn.usage[name], 0);
    const billed = {
      input: sumOf("input"),
      cached: sumOf("cached"),
      output: sumOf("output"),
      reasoning: sumOf("reasoning"),
    };
    expect(Object.keys(usage)).not.toEqual([]);
    expect({ ...billed, ...usage }).toEqual(billed);
  });
}

function checkCompaction(agent: Agent, scenario: Scenario, played: () => Promise<Played>): void {
  const { vendor } = scenario;
  test(nameOf(agent, scenario, "compaction"), async () => {
    const { code, output, note, requests, report, turns } = await played();
    expect({ code, note }, output).toEqual({ code: 0, note: noteAfter });
    expect(report().lastWords).toBe(lastWords);
    const refusals = typeof scenario.full === "function" ? 1 : 0;
    expect(requests, output).toHaveLength(turns.length + refusals);
    // What follows the summary has it in place of the first calls.
    const [show, last] = requests.slice(-2).map(bodyOf);
    expect(JSON.stringify(show)).toContain(summary);
    expect(vendor.toHistory(show ?? {}).results.has("call_read_1")).toBe(false);
    expect(vendor.toHistory(last ?? {}).results.get("call_show_4")).toContain(commandOutput);
  });
}

/** What a receipt says about the call. */
const shownOf = (receipt: PaidReceipt) => ({
  model: receipt.model,
  dialect: receipt.dialect,
  outcome: receipt.outcome,
  isStreamed: receipt.isStreamed,
  estimated: receipt.estimated,
  input: receipt.units.input ?? 0,
  cached: receipt.units.cached_input ?? 0,
  output: receipt.units.output ?? 0,
  reasoning: receipt.reasoningTokens,
  charged: receipt.charged,
});

/** The same, from what the vendor counted. */
function expectedOf(options: {
  readonly model: string;
  readonly dialect: Agent["dialect"];
  readonly usage: TurnUsage;
}) {
  const { model, dialect, usage } = options;
  const { cached, output, reasoning } = usage;
  const input = usage.input - cached;
  const charged =
    BigInt(input) * price.input + BigInt(cached) * price.cached + BigInt(output) * price.output;
  const served = { outcome: "ok", isStreamed: true, estimated: false };
  return { model, dialect, ...served, input, cached, output, reasoning, charged };
}

const manifestOf = ({ vendor, model, full }: Scenario) => `
providers:
  vendor: ${vendor.provider}
models:
  ${model}: { endpoint: chat, context_length: ${full === undefined ? 1_048_576 : fullTokens}, price: ${priceEntry}, routes: [{ provider: vendor, model: ${vendor.upstreamModel} }] }
`;
