import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { latestEndMs } from "../../../people/throttle.ts";
import { type Try, type TryCounter, tryLimits } from "../../../people/tries.ts";

/** Rows that are kept at most; those that are forgotten soonest go first. */
const usualMost = 50_000;
const eraseEvery = 100;

/** Failed sign-ins, counted together by all processes that sign people in. */
export class SignInTries implements TryCounter {
  readonly #pool: Pool;
  readonly #most: number;
  #counted = 0;

  constructor(pool: Pool, most = usualMost) {
    this.#pool = pool;
    this.#most = most;
  }

  async waitMs(one: Try, nowMs: number): Promise<number> {
    const limit = tryLimits[one.kind];
    const { rows } = await this.#pool.query<{ full_at_ms: number }>(
      "select full_at_ms from sign_in_tries where kind = $1 and name = $2",
      [one.kind, digest(one)],
    );
    const latestMs = latestEndMs(limit, nowMs);
    const fullAtMs = rows[0]?.full_at_ms ?? nowMs;
    if (fullAtMs > latestMs) await this.#cap([one], nowMs);
    return Math.max(0, Math.min(fullAtMs, latestMs) - nowMs - (limit.burst - 1) * limit.everyMs);
  }

  async count(tries: readonly Try[], nowMs: number): Promise<number> {
    if (this.#counted++ % eraseEvery === 0) await this.#erase(nowMs);
    const rows = tries.map((one) => {
      const { burst, everyMs } = tryLimits[one.kind];
      return { kind: one.kind, name: digest(one), burst, every_ms: everyMs };
    });
    const count = async () => {
      const { rows: replies } = await this.#pool.query<{ wait: number }>(
        "select svc_try($1, $2) as wait",
        [JSON.stringify(rows), nowMs],
      );
      return replies[0]?.wait ?? 0;
    };
    const waitMs = await count();
    if (waitMs <= Math.max(...rows.map(({ every_ms }) => every_ms))) return waitMs;
    await this.#cap(tries, nowMs);
    return count();
  }

  /** After the clock of the database was set back. One by one: they lock in no order. */
  async #cap(tries: readonly Try[], nowMs: number): Promise<void> {
    for (const one of tries)
      await this.#pool.query(
        "update sign_in_tries set full_at_ms = $3 where kind = $1 and name = $2 and full_at_ms > $3",
        [one.kind, digest(one), latestEndMs(tryLimits[one.kind], nowMs)],
      );
  }

  async succeed({ forget, giveBack }: Parameters<TryCounter["succeed"]>[0]): Promise<void> {
    for (const one of forget)
      await this.#pool.query("delete from sign_in_tries where kind = $1 and name = $2", [
        one.kind,
        digest(one),
      ]);
    for (const one of giveBack)
      await this.#pool.query(
        "update sign_in_tries set full_at_ms = full_at_ms - $3 where kind = $1 and name = $2",
        [one.kind, digest(one), tryLimits[one.kind].everyMs],
      );
  }

  async #erase(nowMs: number): Promise<void> {
    await this.#pool.query(
      `delete from sign_in_tries where (kind, name) in (
        select kind, name from sign_in_tries
          where full_at_ms <= greatest($1, (
            select full_at_ms from sign_in_tries order by full_at_ms desc offset $2 limit 1))
          for update skip locked)`,
      [nowMs, this.#most],
    );
  }
}

/** Addresses and networks of people are in no table longer than needed, and names have one size. */
const digest = ({ name }: Try) => createHash("sha256").update(name).digest("base64url");
