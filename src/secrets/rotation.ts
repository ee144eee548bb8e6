import type { AuditRecord } from "../base/audit.ts";
import { Problem } from "../base/problem.ts";
import {
  type DataKeyChange,
  type DataKeyState,
  type DataKeyStore,
  unwrapAll,
  type WrappedKey,
  wrapAll,
  wrappingsOf,
} from "./data-keys.ts";
import type { MasterKey } from "./master-key.ts";

interface Change {
  readonly store: DataKeyStore;
  /** The secret of this process. */
  readonly master: MasterKey;
  readonly audit: AuditRecord;
}

/**
 * Wraps all data keys with another secret, in one transaction. Where other processes still have the
 * previous secret, both wrappings stay until `finishRotation`.
 */
export async function rotateKeys(
  options: Change & {
    readonly next: MasterKey;
    readonly keepsOld: boolean;
    readonly nowMs: number;
  },
): Promise<void> {
  const { store, master, next, keepsOld, nowMs, audit } = options;
  if (next.fingerprint === master.fingerprint)
    throw new Problem({
      code: "conflict",
      message: "The new master secret is the one that is used now. Choose another one.",
    });
  await store.change((state) => {
    if (wrappingsOf(state).length > 1) throw unfinished(state);
    const storeId = ownStore(state, master);
    const created = new Map(state.keys.map((key) => [key.purpose, key.createdAtMs]));
    const added = wrapAll({
      keys: unwrapAll(state, master),
      master: next,
      storeId,
      nowMs,
      createdAtMs: (purpose) => created.get(purpose) ?? nowMs,
    });
    const keys = keepsOld ? [...state.keys, ...added] : added;
    return { storeId, fingerprint: next.fingerprint, keys, excludesOlder: true, audit };
  });
}

/** From here on only the new secret opens the store. */
export async function finishRotation({ store, master, audit }: Change): Promise<void> {
  await store.change((state) => {
    const storeId = ownRotation(state, master);
    if (state.fingerprint !== master.fingerprint)
      throw new Problem({
        code: "conflict",
        message: `This process still uses the previous secret (fingerprint ${master.fingerprint}). Give it the new one (fingerprint ${state.fingerprint}) and restart it first.`,
        command: "secret status",
      });
    return keepOnly(state, { storeId, wrapping: master.fingerprint, audit });
  });
}

/** The previous secret is the only one again. */
export async function cancelRotation({ store, master, audit }: Change): Promise<void> {
  await store.change((state) => {
    const storeId = ownRotation(state, master);
    if (state.fingerprint === master.fingerprint)
      throw new Problem({
        code: "conflict",
        message: `This process already uses the new secret (fingerprint ${master.fingerprint}). Finish the rotation, or give the process the previous secret and restart it.`,
        command: "secret status",
      });
    return keepOnly(state, { storeId, wrapping: master.fingerprint, audit });
  });
}

/** Of two, the one that this process does not have. */
export const otherWrapping = (state: DataKeyState, master: MasterKey): string | undefined =>
  wrappingsOf(state).find((wrapping) => wrapping !== master.fingerprint);

/** When the data keys were wrapped by the secret that the store belongs to. */
export const wrappedAtMs = ({ keys, fingerprint }: DataKeyState): number | undefined =>
  keys.find(({ wrapping }: WrappedKey) => wrapping === fingerprint)?.wrappedAtMs;

function keepOnly(
  state: DataKeyState,
  only: { readonly storeId: string; readonly wrapping: string; readonly audit: AuditRecord },
): DataKeyChange {
  const { storeId, wrapping, audit } = only;
  const keys = state.keys.filter((key) => key.wrapping === wrapping);
  return { storeId, fingerprint: wrapping, keys, excludesOlder: true, audit };
}

function ownRotation(state: DataKeyState, master: MasterKey): string {
  const storeId = ownStore(state, master);
  if (wrappingsOf(state).length > 1) return storeId;
  throw new Problem({
    code: "conflict",
    message: "There is no unfinished rotation of the master secret.",
    command: "secret status",
  });
}

function ownStore(state: DataKeyState, master: MasterKey): string {
  const { storeId } = state;
  if (storeId !== undefined && wrappingsOf(state).includes(master.fingerprint)) return storeId;
  throw new Problem({
    code: "conflict",
    message: `The master secret was rotated in the meantime (the database belongs to ${state.fingerprint}, this process uses ${master.fingerprint}). Give this process the new secret and restart it.`,
  });
}

const unfinished = (state: DataKeyState) =>
  new Problem({
    code: "conflict",
    message: `A rotation to the secret with the fingerprint ${state.fingerprint} is not finished. Finish it with --finish or undo it with --cancel.`,
    command: "secret status",
  });
