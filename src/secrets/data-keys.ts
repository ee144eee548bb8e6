import { randomBytes } from "node:crypto";
import type { AuditRecord } from "../base/audit.ts";
import { Problem } from "../base/problem.ts";
import type { MasterKey } from "./master-key.ts";
import {
  type DataKeys,
  derivedKeys,
  type Purpose,
  purposes,
  type Secrets,
  secretsOf,
} from "./secrets.ts";

/** A data key, wrapped by a master secret. During a rotation each key has two of them. */
export interface WrappedKey {
  readonly purpose: string;
  /** The fingerprint of the master secret that opens it. */
  readonly wrapping: string;
  readonly wrapped: string;
  readonly createdAtMs: number;
  readonly wrappedAtMs: number;
}

export interface DataKeyState {
  /** Undefined where there are no data keys yet. */
  readonly storeId: string | undefined;
  /** Of the master secret that the store belongs to; undefined in an empty store. */
  readonly fingerprint: string | undefined;
  readonly keys: readonly WrappedKey[];
}

export interface DataKeyChange {
  readonly storeId: string;
  readonly fingerprint: string;
  readonly keys: readonly WrappedKey[];
  /** The keys are not those that older versions derive from the master secret of the store. */
  readonly excludesOlder: boolean;
  readonly audit?: AuditRecord;
}

/** Implemented by the stores. */
export interface DataKeyStore {
  read(): Promise<DataKeyState>;
  /**
   * In one transaction, alone among all processes: what `work` returns replaces what is there.
   * Nothing changes if it returns nothing or throws.
   */
  change(work: (state: DataKeyState) => DataKeyChange | undefined): Promise<void>;
}

export interface OpenedKeys {
  readonly secrets: Secrets;
  /** The secret that has opened them. */
  readonly master: MasterKey;
  readonly storeId: string;
}

export interface OpenOptions {
  readonly store: DataKeyStore;
  readonly master: MasterKey;
  /** Another secret of this machine, by its fingerprint: a rotation may have been interrupted. */
  readonly kept: (fingerprint: string) => MasterKey | undefined;
  readonly nowMs: () => number;
  /** What to do where the secret is another one. */
  readonly advice: string;
}

/**
 * The data keys of a store. An empty store gets random ones. One from before there were any gets
 * those that it has derived so far, so that everything in it still opens. Of several processes that
 * start at once, one creates them.
 */
export async function openDataKeys(options: OpenOptions): Promise<OpenedKeys> {
  const { store, nowMs } = options;
  let state = await store.read();
  if (state.keys.length === 0) {
    await store.change((found) =>
      found.keys.length === 0 ? firstKeys(found, masterOf(found, options), nowMs()) : undefined,
    );
    state = await store.read();
  }
  const master = masterOf(state, options);
  const { storeId, fingerprint } = state;
  if (storeId === undefined || fingerprint === undefined) throw damaged("its id is missing");
  return { secrets: secretsOf(fingerprint, unwrapAll(state, master)), master, storeId };
}

/** The secrets that open the store: two during a rotation. */
export function wrappingsOf({ keys, fingerprint }: DataKeyState): readonly string[] {
  if (keys.length > 0) return [...new Set(keys.map(({ wrapping }) => wrapping))];
  return fingerprint === undefined ? [] : [fingerprint];
}

function masterOf(state: DataKeyState, { master, kept, advice }: OpenOptions): MasterKey {
  const wrappings = wrappingsOf(state);
  if (wrappings.length === 0 || wrappings.includes(master.fingerprint)) return master;
  for (const wrapping of wrappings) {
    const other = kept(wrapping);
    if (other !== undefined) return other;
  }
  throw new Problem({
    code: "failed",
    message: `The database belongs to another master secret, so its stored keys would not work (its secret has the fingerprint ${wrappings.join(" or ")}, this one ${master.fingerprint}). ${advice}`,
  });
}

function firstKeys(state: DataKeyState, master: MasterKey, nowMs: number): DataKeyChange {
  // They are written together.
  if (state.storeId !== undefined) throw damaged("they are missing");
  const isNew = state.fingerprint === undefined;
  const storeId = randomBytes(16).toString("hex");
  const keys = isNew ? randomKeys() : derivedKeys(master);
  const { fingerprint } = master;
  return {
    storeId,
    fingerprint,
    keys: wrapAll({ keys, master, storeId, nowMs, createdAtMs: () => nowMs }),
    excludesOlder: isNew,
  };
}

function randomKeys(): DataKeys {
  const made = Object.keys(purposes).map((purpose) => [purpose, new Uint8Array(randomBytes(32))]);
  return Object.fromEntries(made) as Record<Purpose, Uint8Array>;
}

const placeOf = (storeId: string, purpose: string) => `svc data key v1\n${storeId}\n${purpose}`;

export function wrapAll(of: {
  readonly keys: DataKeys;
  readonly master: MasterKey;
  readonly storeId: string;
  readonly nowMs: number;
  readonly createdAtMs: (purpose: string) => number;
}): readonly WrappedKey[] {
  const { keys, master, storeId, nowMs, createdAtMs } = of;
  return Object.entries(keys).map(([purpose, key]) => ({
    purpose,
    wrapping: master.fingerprint,
    wrapped: master.wrap(key, placeOf(storeId, purpose)),
    createdAtMs: createdAtMs(purpose),
    wrappedAtMs: nowMs,
  }));
}

export function unwrapAll({ storeId = "", keys }: DataKeyState, master: MasterKey): DataKeys {
  const opened = Object.keys(purposes).map((purpose) => {
    const found = keys.find(
      (key) => key.purpose === purpose && key.wrapping === master.fingerprint,
    );
    if (found === undefined) throw damaged(`the one for ${purpose} is missing`);
    try {
      return [purpose, master.unwrap(found.wrapped, placeOf(storeId, purpose))];
    } catch (cause) {
      throw damaged(`the one for ${purpose} was changed`, cause);
    }
  });
  return Object.fromEntries(opened) as Record<Purpose, Uint8Array>;
}

const damaged = (what: string, cause?: unknown) =>
  new Problem({
    code: "failed",
    message: `The data keys of the database are damaged: ${what}. Restore the database from a backup.`,
    cause,
  });
