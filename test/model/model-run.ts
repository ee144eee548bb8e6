import { rmSync } from "node:fs";
import { join } from "node:path";
import { toDateText } from "../../src/base/dates.ts";
import { toUsd } from "../../src/base/money.ts";
import { Problem } from "../../src/base/problem.ts";
import { periodEndMs } from "../../src/call/limits.ts";
import { auditOf } from "../store/audit-sample.ts";
import { checkLedger, checkSums, same } from "./check-ledger.ts";
import { type Command, pick } from "./commands.ts";
import { endCall, type Running } from "./end-call.ts";
import { type PlainCall, PlainLedger } from "./plain-ledger.ts";
import { maxCallMs, RealLedger } from "./real-ledger.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** Noon; a month with 31 days lies ahead. */
const beginMs = Date.UTC(2027, 2, 1, 12);
const models = ["model-a", "model-b"] as const;
const firstPrice = { input: 300_000_000n, cached: 30_000_000n, output: 900_000_000n, inHours: 0 };
const mostAccounts = 2;
const secondKeyConcurrency = 3;

export interface ModelRunOptions {
  readonly folder: string;
  readonly looksAtBudgets: boolean;
}

/** Does the same with the real ledger and with the plain one, and compares them at every step. */
export class ModelRun {
  readonly plain = new PlainLedger();
  readonly counts = { admitted: 0, refused: 0, lowered: 0, short: 0, takenBack: 0, crashes: 0 };
  readonly #options: ModelRunOptions;
  readonly #clock: { ms: number };
  readonly #running = new Map<PlainCall, Running>();
  /** Ended, but the disk fails. */
  readonly #waiting = new Set<PlainCall>();
  readonly #secrets = new Map<string, string>();
  #real: RealLedger;
  #isImpatient = false;
  #isOnTrial = false;

  private constructor(options: ModelRunOptions, real: RealLedger, clock: { ms: number }) {
    this.#options = options;
    this.#real = real;
    this.#clock = clock;
  }

  static async start(options: ModelRunOptions): Promise<ModelRun> {
    const clock = { ms: beginMs };
    const path = join(options.folder, "0", "svc.db");
    const real = await RealLedger.open(path, { nowMs: () => clock.ms });
    const run = new ModelRun(options, real, clock);
    await real.store.catalog.write({ atMs: clock.ms, saveModels: models.map(toModel) }, auditOf());
    for (const model of models.keys())
      await run.#price({
        type: "price",
        model,
        ...firstPrice,
      });
    return run;
  }

  async step(command: Command): Promise<void> {
    await this.#perform(command);
    this.#check();
  }

  /** Everything comes to rest: then nothing is held, and all sums are right. */
  async finish(): Promise<void> {
    await this.#repair();
    for (const call of this.plain.open) await this.#end(call, { how: "failed", use: nothing });
    this.#check();
    for (const { pot } of this.#real.purses.all) same("held at rest", pot.held, 0n);
    await checkSums(this.#compared);
  }

  async close(): Promise<void> {
    await this.#real.die();
    rmSync(this.#options.folder, { recursive: true, force: true });
  }

  get #compared() {
    return { plain: this.plain, real: this.#real, nowMs: this.#clock.ms };
  }

  #check(): void {
    checkLedger({
      ...this.#compared,
      secretOf: (keyId) => this.#secretOf(keyId),
      looksAtBudgets: this.#options.looksAtBudgets,
    });
  }

  #perform(command: Command): Promise<void> | void {
    switch (command.type) {
      case "clock":
        return this.#move(this.#clock.ms + command.ms);
      case "edge":
        return this.#move(periodEndMs(command.of, this.#clock.ms) - command.beforeMs);
      case "admit":
        return this.#admit(command);
      case "end": {
        const call = pick(this.plain.open, command.call);
        return call && this.#end(call, command);
      }
      case "store":
        return command.mode === "works" ? this.#repair() : this.#spoil(command.mode);
      case "impatience":
        return this.#losePatience();
      case "crash":
        return this.#crash(command);
      default:
        if (this.#real.disk.mode === "works") return this.#operate(command);
        // A disk that fails takes nothing from the operator either; sums may still be written.
        return command.type === "sums" ? this.#real.flush() : undefined;
    }
  }

  #operate(
    command: Of<"account" | "entry" | "budget" | "race" | "price" | "suspend" | "resume" | "sums">,
  ): Promise<void> {
    switch (command.type) {
      case "account":
        return this.#createAccount();
      case "entry":
        return this.#enter(command);
      case "budget":
        return this.#setBudget(command);
      case "race":
        return this.#race(command);
      case "price":
        return this.#price(command);
      case "suspend":
      case "resume":
        return this.#suspend(command);
      case "sums":
        return checkSums(this.#compared);
      default:
        return command satisfies never;
    }
  }

  async #createAccount(): Promise<void> {
    if (this.plain.accounts.length >= mostAccounts) return;
    const { operations } = this.#real;
    const name = `account-${this.plain.accounts.length}`;
    const { id } = await operations.accounts.create({ name });
    const first = await operations.keys.create({ account: id });
    const second = await operations.keys.create({
      account: id,
      concurrency: String(secondKeyConcurrency),
    });
    for (const { id: keyId, key } of [first, second]) this.#secrets.set(keyId, key);
    this.plain.concurrency.set(second.id, secondKeyConcurrency);
    const keyIds = [first.id, second.id];
    this.plain.accounts.push({ id, keyIds, entries: [], isSuspended: false });
  }

  async #enter({ account: at, kind, nano, reference: number }: Of<"entry">): Promise<void> {
    const account = pick(this.plain.accounts, at);
    if (account === undefined) return;
    const reference = `reference ${number}`;
    const signed = kind === "withdrawal" ? -nano : nano;
    const expected = this.plain.enter(account, { reference, kind, nano: signed });
    const outcome = await this.#real.operations.entries
      .add({ account: account.id, kind, usd: toUsd(nano), reference })
      .then(({ repeated }) => (repeated ? "repeated" : "added"), refused);
    same(`${kind} of ${nano}`, outcome, expected);
  }

  async #setBudget({ owner, nano, period }: Of<"budget">): Promise<void> {
    const owners = this.plain.accounts.flatMap(({ id, keyIds }) => [id, ...keyIds]);
    const id = pick(owners, owner);
    if (id === undefined) return;
    const budget =
      nano === undefined ? "none" : `${toUsd(nano)}${period === "total" ? "" : `/${period}`}`;
    const { operations } = this.#real;
    if (this.#secrets.has(id)) await operations.keys.setLimits({ id, budget });
    else await operations.accounts.setLimits({ account: id, budget });
    this.plain.setBudget({
      ownerId: id,
      budget: nano === undefined ? undefined : { nano, period },
      nowMs: this.#clock.ms,
    });
  }

  /** Whether the receipt is written before the budget is set or after it, it counts once. */
  async #race({ call: at, use, turns, budget }: Of<"race">): Promise<void> {
    const call = pick(this.plain.open, at);
    const ended = call && this.#end(call, { how: "whole", use });
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await this.#setBudget(budget);
    await ended;
  }

  async #price({ model: at, input, cached, output, inHours }: Of<"price">): Promise<void> {
    const model = pick(models, at) ?? models[0];
    const effectiveAtMs = this.#clock.ms + inHours * 3_600_000;
    const { version } = await this.#real.operations.prices.set({
      model,
      price: {
        input: toUsd(input),
        output: toUsd(output),
        ...(cached === undefined ? {} : { cached_input: toUsd(cached) }),
      },
      ...(inHours === 0 ? {} : { from: toDateText(effectiveAtMs) }),
    });
    const known = this.plain.prices.filter((price) => price.model === model).length;
    same(`${model}: the version of its price`, version, known + 1);
    this.plain.prices.push({ model, version: known + 1, effectiveAtMs, input, cached, output });
  }

  async #suspend({ type, account: at }: Of<"suspend" | "resume">): Promise<void> {
    const account = pick(this.plain.accounts, at);
    if (account === undefined) return;
    const { operations } = this.#real;
    if (type === "suspend") await operations.accounts.suspend({ account: account.id });
    else await operations.accounts.resume({ account: account.id });
    account.isSuspended = type === "suspend";
  }

  /** Calls that would last longer than any may are ended first. */
  async #move(toMs: number): Promise<void> {
    for (const call of this.plain.open)
      if (toMs - call.startedMs >= maxCallMs)
        await this.#end(call, { how: "failed", use: nothing });
    this.#clock.ms = toMs;
  }

  async #admit({ key, model: at, bodyMs, ...need }: Of<"admit">): Promise<void> {
    const owners = this.plain.accounts.flatMap((account) =>
      account.keyIds.map((keyId) => ({ account, keyId })),
    );
    const owner = pick(owners, key);
    const model = pick(models, at) ?? models[0];
    if (owner === undefined) return;
    const exchange = this.#real.begin();
    await this.#move(this.#clock.ms + bodyMs);
    // A look in between: for others, the next period may have begun meanwhile.
    if (bodyMs > 0) this.#check();
    const { requestId: id, startedMs } = exchange;
    const price = this.plain.priceAt(model, this.#clock.ms);
    const isStoreFailing = this.#waiting.size > 0 || this.#isImpatient;
    const expected = this.plain.judge({ ...owner, price, need, startedMs, isStoreFailing });
    const secret = this.#secretOf(owner.keyId);
    const charge = this.#real.admit({ secret, model, need, exchange });
    // Until a receipt stands, only some calls find out whether the disk is well.
    const isTooEarly = this.#isOnTrial && charge === "store_unavailable";
    if (isTooEarly && !("refusal" in expected)) return;
    if ("refusal" in expected || typeof charge === "string") {
      const code = typeof charge === "string" ? charge : "admitted";
      same("the refusal", code, "refusal" in expected ? expected.refusal : "admitted");
      this.counts.refused++;
      return;
    }
    const { hold, cap } = expected;
    same("the cap", charge.cap, cap);
    same("the cap that is told", exchange.loweredCap, cap < need.cap ? cap : undefined);
    const call = this.plain.admit({ id, ...owner, model, startedMs, price, hold, cap });
    this.#running.set(call, { charge, input: need.input, output: cap * need.choices });
    this.counts.admitted++;
    if (cap < need.cap) this.counts.lowered++;
  }

  async #end(call: PlainCall, { how, use }: Pick<Of<"end">, "how" | "use">): Promise<void> {
    const running = this.#running.get(call);
    if (running === undefined) throw new Error(`${call.id} does not run`);
    this.#running.delete(call);
    const { units, outcome, mayTakeBack, ended } = endCall(running, how, use);
    const { disk } = this.#real;
    this.plain.end(call, { units, outcome, mayTakeBack, isDurable: false });
    if (call.charged < call.cost) this.counts.short++;
    if (disk.mode === "works") {
      same("whether it could be written", await ended, true);
      call.isDurable = true;
      this.#isOnTrial = false;
    } else {
      this.#waiting.add(call);
      await disk.tried();
      this.#noteTry();
    }
    // Whatever else ends it later changes nothing.
    void running.charge.settle({ units: { output: 9 }, reasoningTokens: 0, estimated: false });
    void running.charge.close(undefined);
  }

  /** What a try of the journal does to those that wait, while the disk is not well. */
  #noteTry(): void {
    for (const call of this.#waiting)
      if (this.#real.disk.mode === "unsure") call.isDurable = true;
      else if (this.#isImpatient && call.mayTakeBack && !call.isDurable) {
        this.#waiting.delete(call);
        this.plain.takeBack(call);
        this.counts.takenBack++;
      }
  }

  async #spoil(mode: "fails" | "unsure"): Promise<void> {
    const isTrying = this.#real.journal.isFailing;
    this.#real.disk.mode = mode;
    if (!isTrying) return;
    // One try may have begun before.
    await this.#real.disk.tried();
    await this.#real.disk.tried();
    this.#noteTry();
  }

  async #losePatience(): Promise<void> {
    if (!this.#real.journal.isFailing) return;
    await this.#real.losePatience();
    this.#isImpatient = true;
    this.#noteTry();
  }

  async #repair(): Promise<void> {
    const { disk, journal } = this.#real;
    disk.mode = "works";
    while (journal.isFailing) await disk.tried();
    await journal.idle(5_000);
    this.#isImpatient = false;
    this.#isOnTrial = true;
    for (const call of this.#waiting) call.isDurable = true;
    this.#waiting.clear();
  }

  async #crash({ copies, call: at, turns, use, withdraws }: Of<"crash">): Promise<void> {
    this.counts.crashes++;
    const ending = pick(this.plain.open, at);
    const running = ending && this.#running.get(ending);
    let isTold = false;
    if (ending !== undefined && running !== undefined) {
      const { ended, ...how } = endCall(running, "whole", use);
      void ended.then((isWritten) => (isTold = isWritten));
      this.plain.end(ending, { ...how, isDurable: false });
    }
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    const old = this.#real;
    const folder = join(this.#options.folder, String(this.counts.crashes));
    const path = copies ? old.copyTo(folder) : old.path;
    const wasTold = isTold;
    await old.die();
    const written = await RealLedger.receiptIds(path);
    this.plain.crash((call) => {
      const isThere = written.has(call.id);
      // Who was told that it is paid finds it; what never ended is not there.
      if (call === ending && wasTold) same(`${call.id} is there`, isThere, true);
      if (call !== ending) same(`${call.id} is there`, isThere, false);
      return isThere;
    });
    this.#running.clear();
    this.#waiting.clear();
    this.#isImpatient = false;
    if (withdraws !== "nothing") await this.#withdraw(path, withdraws === "all" ? 0n : 1n);
    this.#real = await RealLedger.open(path, this.#time);
  }

  /** All that an account has left and a bit more, while no server runs. */
  async #withdraw(path: string, more: bigint): Promise<void> {
    const [account] = this.plain.accounts;
    const nano = account === undefined ? 0n : this.plain.free(account) + more;
    if (account === undefined || nano === 0n) return;
    const reference = `after crash ${this.counts.crashes}`;
    const entry = { reference, kind: "withdrawal", nano: -nano } as const;
    const expected = this.plain.enter(account, entry);
    await RealLedger.atRest(path, this.#time, async (operations) => {
      const outcome = await operations.entries
        .add({ account: account.id, kind: entry.kind, usd: toUsd(nano), reference })
        .then(() => "added", refused);
      same(`withdrawal of ${nano} while no server runs`, outcome, expected);
    });
  }

  get #time() {
    return { nowMs: () => this.#clock.ms };
  }

  #secretOf(keyId: string): string {
    return this.#secrets.get(keyId) ?? "";
  }
}

const nothing = { inputPercent: 0, outputPercent: 0, cachedPercent: 0 };

function refused(error: unknown): "refused" {
  if (error instanceof Problem && error.code === "conflict") return "refused";
  throw error;
}

function toModel(id: string) {
  return {
    id,
    endpoint: "chat",
    input: "text",
    ownedBy: "svc",
    createdAtMs: beginMs,
    prices: [],
    routes: [{ provider: "fake", model: "any", weight: 1 }],
    lifecycle: {},
  } as const;
}
