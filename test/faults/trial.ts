/** One server on one faulty disk: set up, looked at, and taken down. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { LedgerReader } from "../../src/ledger/store.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import type { Answered, Target } from "./callers.ts";
import { judgeMoney, openAccount, receiptsIn } from "./money.ts";
import { type ServerProcess, startServerProcess, within } from "./server-process.ts";
import { manifestFor, Vendor } from "./vendor.ts";

const answerWithinMs = 60_000;

export interface LoopLag {
  readonly p50Ms: number;
  readonly maxMs: number;
}

export interface TrialResult {
  readonly name: string;
  /** Why it was not run: what the machine lacks. That is no pass. */
  readonly notRun?: string;
  readonly problems: readonly string[];
  /** For information: they decide nothing. */
  readonly figures: Readonly<Record<string, number>>;
}

export interface TrialOptions {
  readonly wrapper?: (dataDir: string) => readonly string[];
  readonly environment?: (folder: string) => Readonly<Record<string, string>>;
  /** The process has a file system of its own there: its files are seen through /proc. */
  readonly hasOwnMount?: boolean;
}

export class Trial {
  readonly folder: string;
  readonly server: ServerProcess;
  readonly target: Target;
  /** The data directory as this process sees it. */
  readonly dataDir: string;
  readonly #account: string;
  readonly #vendor: Vendor;
  readonly #lags: LoopLag[];

  private constructor(parts: {
    readonly folder: string;
    readonly server: ServerProcess;
    readonly dataDir: string;
    readonly account: string;
    readonly key: string;
    readonly vendor: Vendor;
    readonly lags: LoopLag[];
  }) {
    this.folder = parts.folder;
    this.server = parts.server;
    this.dataDir = parts.dataDir;
    this.target = { origin: parts.server.origin, key: parts.key };
    this.#account = parts.account;
    this.#vendor = parts.vendor;
    this.#lags = parts.lags;
  }

  static async start({ wrapper, environment, hasOwnMount }: TrialOptions): Promise<Trial> {
    const vendor = await Vendor.start();
    const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
    let server: ServerProcess | undefined;
    try {
      vendor.begin(undefined);
      const inner = join(folder, "data");
      mkdirSync(inner);
      const configPath = join(folder, "svc.yaml");
      writeFileSync(configPath, manifestFor(vendor.baseUrl));
      const lags: LoopLag[] = [];
      server = await startServerProcess({
        dataDir: inner,
        configPath,
        preload: resolve(import.meta.dir, "loop-lag.ts"),
        onMessage: (message) => lags.push(message as LoopLag),
        wrapper: wrapper?.(inner) ?? [],
        environment: environment?.(folder) ?? {},
      });
      const dataDir = hasOwnMount === true ? `/proc/${server.pid}/root${inner}` : inner;
      const { id: account, key } = await openAccount(dataDir);
      return new Trial({ folder, server, dataDir, account, key, vendor, lags });
    } catch (error) {
      server?.kill();
      await vendor.stop();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Since it was last asked for. */
  async loopLag(): Promise<LoopLag> {
    const { length } = this.#lags;
    this.server.send("lag");
    const came = async () => {
      while (this.#lags.length === length) await Bun.sleep(5);
    };
    await within(answerWithinMs, came());
    return this.#lags.at(-1) ?? { p50Ms: 0, maxMs: 0 };
  }

  /** The ledger, when nothing is being written. SQLite does not find its files through /proc. */
  #reader(): LedgerReader {
    const copy = join(this.folder, "copy");
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy);
    for (const name of ["svc.db", "svc.db-wal"])
      copyFileSync(join(this.dataDir, name), join(copy, name));
    return openLedgerReader(join(copy, "svc.db"));
  }

  /** Whole replies are paid for, refused ones are free, and every sum is right. */
  async judge(answers: readonly Answered[]): Promise<readonly string[]> {
    const problems: string[] = [];
    const reader = this.#reader();
    const all = await receiptsIn(reader);
    const receipts = new Map(all.map((receipt) => [receipt.id, receipt]));
    for (const { call, end, status, headers } of answers) {
      const receipt = receipts.get(headers["x-request-id"] ?? "");
      const what = `${call.marker} (${call.kind})`;
      if (status === 200 && end === "whole" && receipt?.outcome !== "ok")
        problems.push(`${what} came whole and has no receipt`);
      if (status !== 200 && (receipt?.charged ?? 0n) > 0n)
        problems.push(`${what} was refused with ${status} and is charged`);
      if (status === undefined) problems.push(`${what} had no answer at all`);
    }
    try {
      const { dataDir } = this;
      problems.push(...(await judgeMoney({ reader, dataDir, account: this.#account })));
    } finally {
      await reader.close();
    }
    return problems;
  }

  async stop(): Promise<readonly string[]> {
    const ending = await this.server.stop();
    await this.#vendor.stop();
    rmSync(this.folder, { recursive: true, force: true });
    return ending === 0 ? [] : [`the process that was asked to stop ended with ${ending}`];
  }
}

/** True when the command exists here and ends well. */
export function works(words: readonly [string, ...string[]]): boolean {
  if (Bun.which(words[0]) === null) return false;
  return Bun.spawnSync([...words], { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
}
