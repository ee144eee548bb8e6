/**
 * Rounds of load, kill, start and check, on one data directory that lives through all of them. The
 * process that was started to be checked is the one that the next round kills.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Receipt } from "../../../src/ledger/receipt.ts";
import { Dice } from "../../fuzz/cases/dice.ts";
import { type Answered, load, send } from "../callers.ts";
import { judge } from "../judge.ts";
import {
  type Account,
  judgeMoney,
  openAccount,
  operationsOf,
  receiptsIn,
  withReader,
} from "../money.ts";
import {
  type Finished,
  runSvc,
  type ServerProcess,
  startServerProcess,
  within,
} from "../server-process.ts";
import { manifestFor, Vendor } from "../vendor.ts";
import type { Arming } from "./kill-at.ts";
import { isInner, type KillStep } from "./steps.ts";

const killAt = resolve(import.meta.dir, "kill-at.ts");
const dieWithinMs = 60_000;
const lookEveryMs = 20;

export interface RoundResult {
  readonly step: KillStep;
  readonly round: number;
  readonly calls: number;
  readonly whole: number;
  readonly broken: number;
  readonly receipts: number;
  /** The commit was done and the last byte not yet out. */
  readonly receiptsWithoutReply: number;
  readonly repeats: number;
  readonly problems: readonly string[];
}

export interface CampaignOptions {
  readonly seed: number;
  readonly callers: number;
  readonly callsEach: number;
}

export class KillCampaign {
  readonly #options: CampaignOptions;
  readonly #vendor: Vendor;
  readonly #folder: string;
  #server: ServerProcess | undefined;
  #armed: (() => void) | undefined;
  #account: Account = { id: "", key: "" };
  #knownReceipts = new Set<string>();
  #round = 0;

  private constructor(options: CampaignOptions, vendor: Vendor) {
    this.#options = options;
    this.#vendor = vendor;
    this.#folder = mkdtempSync(join(tmpdir(), "svc-kill-"));
    writeFileSync(this.#configPath, manifestFor(vendor.baseUrl));
  }

  /** With an account that has money and a key. */
  static async start(options: CampaignOptions): Promise<KillCampaign> {
    const campaign = new KillCampaign(options, await Vendor.start());
    try {
      await campaign.#start();
      campaign.#account = await openAccount(campaign.dataDir);
      return campaign;
    } catch (error) {
      await campaign.stop();
      throw error;
    }
  }

  get dataDir(): string {
    return join(this.#folder, "data");
  }

  /** A gateway that does not start again is a finding like any other. */
  async round(step: KillStep): Promise<RoundResult> {
    this.#round++;
    try {
      return await this.#run(step);
    } catch (error) {
      const problems = [error instanceof Error ? error.message : String(error)];
      const none = { calls: 0, whole: 0, broken: 0, receipts: 0, receiptsWithoutReply: 0 };
      return { step, round: this.#round, ...none, repeats: 0, problems };
    }
  }

  async #run(step: KillStep): Promise<RoundResult> {
    const dice = new Dice(this.#options.seed, this.#round);
    const { answers, ending: death } = await this.#loadUntilKilled(step, dice);
    const receiptsAfterCrash = await this.#newReceipts();
    const server = await this.#start();
    const target = { origin: server.origin, key: this.#account.key };
    const repeats = await Promise.all(
      answers
        .filter(({ call }) => call.idempotencyKey !== undefined)
        .map(({ call }) => send(target, call)),
    );
    const problems = [
      ...judge({
        answers,
        repeats,
        receiptsAfterCrash,
        receipts: await this.#newReceipts(),
        upstreamCalls: this.#vendor.calls,
      }),
      ...(await this.#judgeMoney()),
    ];
    if (death !== "SIGKILL") problems.push(`the step was not reached: ${death}`);
    const whole = answers.filter(({ end }) => end === "whole").length;
    for (const { id } of await this.#newReceipts()) this.#knownReceipts.add(id);
    return {
      step,
      round: this.#round,
      calls: answers.length,
      whole,
      broken: answers.length - whole,
      receipts: receiptsAfterCrash.length,
      receiptsWithoutReply: receiptsAfterCrash.length - whole,
      repeats: repeats.length,
      problems,
    };
  }

  /** Runs one `svc` command beside the data directory. */
  svc(words: readonly string[]): Promise<Finished> {
    return runSvc(words, { dataDir: this.dataDir, configPath: this.#configPath });
  }

  /** Lets the last process stop as it should, with all sums written; ends with its exit code. */
  async stopServer(): Promise<string | number | undefined> {
    const ending = await this.#server?.stop();
    this.#server = undefined;
    return ending;
  }

  async stop(): Promise<void> {
    await this.stopServer();
    await this.#vendor.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #configPath(): string {
    return join(this.#folder, "svc.yaml");
  }

  async #start(): Promise<ServerProcess> {
    const { dataDir } = this;
    const server = await startServerProcess({
      dataDir,
      configPath: this.#configPath,
      preload: killAt,
      onMessage: () => this.#armed?.(),
    });
    this.#server = server;
    return server;
  }

  async #arm(server: ServerProcess, arming: Arming): Promise<void> {
    const armed = new Promise<void>((resolveArmed) => {
      this.#armed = resolveArmed;
    });
    server.send(arming);
    await armed;
  }

  async #loadUntilKilled(
    step: KillStep,
    dice: Dice,
  ): Promise<{ readonly answers: readonly Answered[]; readonly ending: unknown }> {
    const { callers, callsEach, seed } = this.#options;
    const calls = callers * callsEach;
    // Commits are fewer than calls, since many share one; and so are calls with a key.
    const isRare = isInner(step) && !step.endsWith("-hold");
    const pass = dice.between(1, Math.max(1, Math.floor(calls / (isRare ? 20 : 4))));
    const server = this.#server ?? (await this.#start());
    const { ended } = server;
    if (isInner(step)) await this.#arm(server, { step, pass });
    this.#vendor.begin(
      isInner(step) ? undefined : { step, pass, reached: () => server.kill(), died: ended },
    );
    const target = {
      origin: server.origin,
      key: this.#account.key,
      sawText: (marker: string) => this.#vendor.sawText(marker),
    };
    // The process may be gone before it answers: then there is nothing to look at.
    const looking = this.#lookOn().catch(() => {});
    const loading = load({ target, round: this.#round, seed, callers, callsEach });
    if (step === "random") setTimeout(() => server.kill(), dice.between(1, 250));
    const answers = await loading;
    const ending = await within(dieWithinMs, ended);
    server.kill();
    await ended;
    await looking;
    this.#server = undefined;
    return { answers, ending: ending ?? `pass ${pass}, and it still ran` };
  }

  /** Somebody looks at the account again and again: its sums are written under load, too. */
  async #lookOn(): Promise<void> {
    const operations = await operationsOf(this.dataDir);
    const account = this.#account.id;
    const isThere = () =>
      operations.accounts.show({ account }).then(
        () => true,
        () => false,
      );
    while (await isThere()) await Bun.sleep(lookEveryMs);
  }

  /** Those that no earlier round has seen. */
  async #newReceipts(): Promise<readonly Receipt[]> {
    const all = await withReader(this.#ledgerPath, receiptsIn);
    return all.filter(({ id }) => !this.#knownReceipts.has(id));
  }

  #judgeMoney(): Promise<readonly string[]> {
    const { dataDir } = this;
    return withReader(this.#ledgerPath, (reader) =>
      judgeMoney({ reader, dataDir, account: this.#account.id }),
    );
  }

  get #ledgerPath(): string {
    return join(this.dataDir, "svc.db");
  }
}
