import { Mutex } from "../base/mutex.ts";
import {
  minuteMs,
  type Rejection,
  type RejectionBatch,
  type RejectionCount,
  type RejectionReason,
  type RejectionStore,
} from "./rejection.ts";
import { toShortText } from "./shown-text.ts";

/** A call as the gateway has it: handed over as it is, so that nothing is created for it. */
export interface RefusedCall {
  readonly requestId: string;
  readonly startedMs: number;
  readonly endpoint: string;
  readonly dialect: string | undefined;
  readonly key: { readonly id: string; readonly accountId: string } | undefined;
  /** Of the catalog. */
  readonly model: { readonly id: string } | undefined;
  /** The name that the caller sent, where the catalog does not have it or the key may not use it. */
  readonly askedModel: string | undefined;
  readonly refusedFor: RejectionReason | undefined;
}

/** The reply that it got. */
export interface Refusal {
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

/** Rows of one key and code within a minute; further calls are counted. */
export const rowsEach = 10;

/** What waits to be written; beyond it, calls are counted without a row, or dropped. */
export interface RecorderBounds {
  readonly rows: number;
  readonly rowsOfAccount: number;
  /** A bucket is a key and a code within one minute. */
  readonly buckets: number;
  readonly bucketsOfAccount: number;
  readonly modelsOfBucket: number;
}

const usualBounds: RecorderBounds = {
  rows: 5_000,
  rowsOfAccount: 1_000,
  buckets: 20_000,
  bucketsOfAccount: 2_000,
  modelsOfBucket: 50,
};

const mostLateMs = 3_600_000;
/** Statements of one transaction, which blocks the event loop for about a millisecond. */
const writesAtOnce = 100;

interface Counter {
  readonly model: string;
  /** Not written yet. */
  count: number;
}

interface Bucket {
  readonly minuteMs: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly code: string;
  readonly status: number;
  /** Rows of their own that there are already, written or not. */
  rows: number;
  /** Not written yet. */
  fresh: Rejection[];
  /** Stands for all calls without a row; its count is what is not written yet. */
  rest: Changing<Rejection> | undefined;
  /** The model that all of those asked for, in the caller's own words. */
  restModel: string | undefined;
  /** When the last call came. */
  lastMs: number;
  /** The first is the one that was used last. */
  counter: Counter;
  readonly counters: Map<string, Counter>;
  isDirty: boolean;
}

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Keeps a light record of refused calls: the first ten of a key, code and minute as rows, the others
 * as a count, and exact sums by minute for charts. A call that is beyond the ten costs three lookups
 * and two additions; nothing is created for it. Everything is written by a timer, in small
 * transactions, apart from the receipts. While the store cannot be written, what waits is bounded:
 * the oldest is dropped, and counted.
 */
export class RejectionRecorder {
  readonly #store: Pick<RejectionStore, "add">;
  readonly #bounds: RecorderBounds;
  readonly #writing = new Mutex();
  /** Called for each row, and for each write of a count that grew. */
  readonly watchers = new Set<(rejection: Rejection) => void>();
  #minuteMs = Number.NEGATIVE_INFINITY;
  /** Of the current minute, by key and code. */
  #byKey = new Map<string, Map<string, Bucket>>();
  #buckets = 0;
  #bucketsOf = new Map<string, number>();
  /** With something to write, the oldest first. */
  #dirty: Bucket[] = [];
  #rows = 0;
  #rowsOf = new Map<string, number>();
  #dropped = 0;

  constructor(store: Pick<RejectionStore, "add">, bounds: Partial<RecorderBounds> = {}) {
    this.#store = store;
    this.#bounds = { ...usualBounds, ...bounds };
  }

  /** Calls that left no trace because the store could not be written, or too much was waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  add(call: RefusedCall, refusal: Refusal): void {
    const { key } = call;
    if (key === undefined) return;
    const bucket = this.#bucketOf(call, refusal, key);
    if (bucket === undefined) {
      this.#dropped++;
      return;
    }
    if (!bucket.isDirty) {
      bucket.isDirty = true;
      this.#dirty.push(bucket);
    }
    if (call.startedMs > bucket.lastMs) bucket.lastMs = call.startedMs;
    this.#count(bucket, call.model?.id ?? "");
    if (bucket.rows < rowsEach && this.#hasRoom(bucket.accountId))
      this.#addRow(bucket, toRejection(bucket, call, refusal));
    else addToRest(bucket, call, refusal);
  }

  /** Writes all that waits; what fails is kept. One runs at a time. */
  flush(): Promise<void> {
    return this.#dirty.length === 0 ? Promise.resolve() : this.#writing.run(() => this.#write());
  }

  #bucketOf(
    call: RefusedCall,
    { code, status }: Refusal,
    key: { readonly id: string; readonly accountId: string },
  ): Bucket | undefined {
    const sinceMs = call.startedMs - this.#minuteMs;
    // Less than nothing is a call whose body took long, or a clock that was set back.
    if (sinceMs >= minuteMs || sinceMs < -mostLateMs) this.#beginMinute(call.startedMs);
    const byCode = this.#byKey.get(key.id);
    const known = byCode?.get(code);
    if (known?.status === status) return known;
    // A few codes have another status on some endpoints.
    const name = known === undefined ? code : `${code} ${status}`;
    return byCode?.get(name) ?? this.#newBucket({ key, code, status, name });
  }

  #newBucket(of: {
    readonly key: { readonly id: string; readonly accountId: string };
    readonly code: string;
    readonly status: number;
    readonly name: string;
  }): Bucket | undefined {
    const { key, code, status, name } = of;
    const { accountId, id: keyId } = key;
    const ofAccount = this.#bucketsOf.get(accountId) ?? 0;
    const { buckets, bucketsOfAccount } = this.#bounds;
    if (this.#buckets >= buckets || ofAccount >= bucketsOfAccount) return undefined;
    this.#buckets++;
    this.#bucketsOf.set(accountId, ofAccount + 1);
    const counter: Counter = { model: "", count: 0 };
    const bucket: Bucket = {
      minuteMs: this.#minuteMs,
      accountId,
      keyId,
      code,
      status,
      rows: 0,
      fresh: [],
      rest: undefined,
      restModel: undefined,
      lastMs: 0,
      counter,
      counters: new Map([["", counter]]),
      isDirty: false,
    };
    const byCode = this.#byKey.get(keyId) ?? new Map<string, Bucket>();
    this.#byKey.set(keyId, byCode.set(name, bucket));
    return bucket;
  }

  /** Calls that began before it, and are refused now, count in it: a body may take a minute. */
  #beginMinute(ms: number): void {
    this.#minuteMs = ms - (ms % minuteMs);
    this.#byKey = new Map();
    this.#bucketsOf = new Map();
    this.#dropOldest();
    this.#buckets = this.#dirty.length;
  }

  /** The store has failed for long: half of what may wait is the new minute's. */
  #dropOldest(): void {
    const most = Math.floor(this.#bounds.buckets / 2);
    for (const bucket of this.#dirty.splice(0, Math.max(0, this.#dirty.length - most))) {
      for (const { count } of bucket.counters.values()) this.#dropped += count;
      this.#forgetRows(bucket.accountId, bucket.fresh.length);
    }
  }

  #count(bucket: Bucket, model: string): void {
    if (bucket.counter.model !== model) bucket.counter = this.#counterOf(bucket, model);
    bucket.counter.count++;
  }

  #counterOf({ counters }: Bucket, model: string): Counter {
    const known = counters.get(model);
    if (known !== undefined) return known;
    const none = counters.get("");
    if (none !== undefined && counters.size > this.#bounds.modelsOfBucket) return none;
    const counter = { model, count: 0 };
    counters.set(model, counter);
    return counter;
  }

  #hasRoom(accountId: string): boolean {
    const { rows, rowsOfAccount } = this.#bounds;
    return this.#rows < rows && (this.#rowsOf.get(accountId) ?? 0) < rowsOfAccount;
  }

  #addRow(bucket: Bucket, row: Rejection): void {
    bucket.rows++;
    bucket.fresh.push(row);
    this.#rows++;
    this.#rowsOf.set(bucket.accountId, (this.#rowsOf.get(bucket.accountId) ?? 0) + 1);
    for (const tell of this.watchers) tell(row);
  }

  #forgetRows(accountId: string, count: number): void {
    const left = (this.#rowsOf.get(accountId) ?? 0) - count;
    this.#rows -= count;
    if (left > 0) this.#rowsOf.set(accountId, left);
    else this.#rowsOf.delete(accountId);
  }

  async #write(): Promise<void> {
    // What comes meanwhile is for the next time: a flood must not keep this one going.
    for (let left = this.#dirty.length; left > 0; ) {
      const taken = this.#take(left);
      left -= taken.length;
      try {
        await this.#store.add(toBatch(taken));
      } catch (error) {
        this.#putBack(taken);
        throw error;
      }
      this.#written(taken);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** As many buckets as fit in one transaction, the oldest first. */
  #take(most: number): readonly Taken[] {
    const taken: Taken[] = [];
    let writes = 0;
    for (const bucket of this.#dirty.slice(0, most)) {
      const piece = takeFrom(bucket);
      taken.push(piece);
      writes += piece.rows.length + 2 * piece.counts.length + 1;
      if (writes >= writesAtOnce) break;
    }
    this.#dirty.splice(0, taken.length);
    return taken;
  }

  #written(taken: readonly Taken[]): void {
    for (const { bucket, rows, rest } of taken) {
      this.#forgetRows(bucket.accountId, rows.length - (rest === undefined ? 0 : 1));
      if (rest !== undefined) for (const tell of this.watchers) tell(rest);
    }
  }

  #putBack(taken: readonly Taken[]): void {
    for (const { bucket, rows, rest, counts } of taken.toReversed()) {
      bucket.fresh = [...rows.slice(0, rest === undefined ? undefined : -1), ...bucket.fresh];
      if (rest !== undefined && bucket.rest !== undefined) bucket.rest.count += rest.count;
      for (const { model, count } of counts) {
        const counter = bucket.counters.get(model);
        if (counter !== undefined) counter.count += count;
      }
      if (!bucket.isDirty) this.#dirty.unshift(bucket);
      bucket.isDirty = true;
    }
  }
}

/** What a bucket had to write. */
interface Taken {
  readonly bucket: Bucket;
  /** The last is `rest`, if there is one. */
  readonly rows: readonly Rejection[];
  readonly rest: Rejection | undefined;
  readonly counts: readonly RejectionCount[];
}

function takeFrom(bucket: Bucket): Taken {
  const { fresh, accountId, keyId, code, status } = bucket;
  const rest =
    bucket.rest === undefined || bucket.rest.count === 0 ? undefined : { ...bucket.rest };
  const counts: RejectionCount[] = [];
  for (const counter of bucket.counters.values()) {
    const { model, count } = counter;
    if (count > 0)
      counts.push({ minuteMs: bucket.minuteMs, accountId, keyId, model, code, status, count });
    counter.count = 0;
  }
  bucket.fresh = [];
  if (bucket.rest !== undefined) bucket.rest.count = 0;
  bucket.isDirty = false;
  return { bucket, rows: rest === undefined ? fresh : [...fresh, rest], rest, counts };
}

function toBatch(taken: readonly Taken[]): RejectionBatch {
  return {
    rows: taken.flatMap(({ rows }) => rows),
    counts: taken.flatMap(({ counts }) => counts),
    keys: taken.map(({ bucket: { keyId, lastMs } }) => ({ keyId, lastMs })),
  };
}

function toRejection(
  { accountId, keyId, code, status }: Bucket,
  call: RefusedCall,
  { message }: Refusal,
): Rejection {
  return {
    id: call.requestId,
    accountId,
    keyId,
    model: nameOf(call),
    endpoint: call.endpoint,
    dialect: call.dialect ?? "",
    status,
    code,
    message: toShortText(message, mostMessage),
    reason: call.refusedFor ?? "",
    count: 1,
  };
}

/** The row says only what is true of all calls that it stands for. */
function addToRest(bucket: Bucket, call: RefusedCall, refusal: Refusal): void {
  const { rest } = bucket;
  const model = call.model?.id ?? call.askedModel;
  if (rest === undefined) {
    bucket.rest = toRejection(bucket, call, refusal);
    bucket.restModel = model;
    return;
  }
  rest.count++;
  if (rest.endpoint !== call.endpoint) rest.endpoint = "";
  if (rest.dialect !== (call.dialect ?? "")) rest.dialect = "";
  if (bucket.restModel !== model) rest.model = "";
  if (rest.reason !== (call.refusedFor ?? "")) rest.reason = "";
}

const mostMessage = 500;
const mostName = 100;

function nameOf({ model, askedModel }: RefusedCall): string {
  if (model !== undefined) return model.id;
  return askedModel === undefined ? "" : toShortText(askedModel, mostName);
}
