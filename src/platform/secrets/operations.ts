import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { Mutex } from "../../base/mutex.ts";
import { conflict, invalid, Problem } from "../../base/problem.ts";
import type { FleetStore } from "../../fleet/store.ts";
import { type DataKeyStore, wrappingsOf } from "../../secrets/data-keys.ts";
import { MasterKey } from "../../secrets/master-key.ts";
import {
  fewestCharacters,
  installKept,
  keepSecret,
  keptFingerprints,
  keptPath,
} from "../../secrets/master-secret.ts";
import {
  cancelRotation,
  finishRotation,
  otherWrapping,
  rotateKeys,
  wrappedAtMs,
} from "../../secrets/rotation.ts";
import type { Audits, Unbound } from "../audit/author.ts";

/** Where this process has its master secret from. */
export type SecretPlace = "SVC_SECRET" | "SVC_SECRET_FILE" | "data directory";

export interface SecretStatusView {
  readonly source: SecretPlace;
  readonly path: string | null;
  /** Of the secret of this process. */
  readonly fingerprint: string;
  /** The secrets that open the database: two during a rotation. */
  readonly wrappings: readonly {
    readonly fingerprint: string;
    readonly wrapped_at: string;
    /** The database belongs to it; another one works until the rotation is finished. */
    readonly is_current: boolean;
    readonly is_ours: boolean;
  }[];
  readonly is_finished: boolean;
  readonly data_keys: readonly { readonly purpose: string; readonly created_at: string }[];
  /** Fingerprints of files of earlier secrets, which backups from their time need. */
  readonly kept: readonly string[];
}

export interface RotatedView {
  readonly source: SecretPlace;
  readonly path: string | null;
  readonly fingerprint: string;
  readonly previous: string;
  /** The previous secret opens the database no more. */
  readonly is_finished: boolean;
  /** The file that has the new secret; null: the caller has it. */
  readonly secret_file: string | null;
  /** The file that has the previous secret, for its backups. */
  readonly previous_file: string | null;
  /** Whether several processes share the database. */
  readonly is_shared: boolean;
}

export interface SecretOperations {
  status(input: Record<never, never>): Promise<SecretStatusView>;
  /** With a new secret, or with the given one. Never a route: whoever sets it opens every key. */
  rotate(input: { secret?: string }): Promise<RotatedView>;
  finish(input: { force?: boolean }): Promise<SecretStatusView>;
  cancel(input: Record<never, never>): Promise<SecretStatusView>;
}

export const secretAudits = {
  status: null,
  rotate: { action: "secret.rotate" },
  finish: { action: "secret.finish" },
  cancel: { action: "secret.cancel" },
} satisfies Audits<SecretOperations>;

export interface MasterPlace {
  readonly store: DataKeyStore;
  readonly master: MasterKey;
  readonly source: SecretPlace;
  readonly path: string | undefined;
  readonly dataDir: string;
}

export interface SecretDependencies {
  /** Absent where the store was opened without its master secret. */
  readonly masterPlace?: MasterPlace | undefined;
  readonly clock: Clock;
  readonly fleet?: Pick<FleetStore, "nodes"> | undefined;
}

export function secretOperations({
  masterPlace,
  clock,
  fleet,
}: SecretDependencies): Unbound<SecretOperations, typeof secretAudits> {
  const mutex = new Mutex();
  const isShared = fleet !== undefined;
  let master = masterPlace?.master;
  const own = () => {
    if (masterPlace !== undefined && master !== undefined) return { ...masterPlace, master };
    throw new Problem({ code: "failed", message: "The store was opened without its secret." });
  };
  const status = () => statusOf(own());
  return {
    status,
    rotate: ({ secret }, { audit }) =>
      mutex.run(async () => {
        const { store, master: before, source, path, dataDir } = own();
        const isInDataDir = source === "data directory";
        const keepsOld = isShared || !isInDataDir;
        const text = secret === undefined ? randomBytes(32).toString("hex") : checked(secret);
        const next = new MasterKey(text);
        const { fingerprint } = next;
        const file = isInDataDir || secret === undefined ? keptPath(dataDir, fingerprint) : null;
        const wasThere = file !== null && existsSync(file);
        // On the disk before the database needs it.
        if (file !== null) keepSecret(dataDir, text);
        try {
          const detail = { previous: before.fingerprint, is_finished: !keepsOld };
          const record = audit({ subject: fingerprint, detail });
          const nowMs = clock.nowMs();
          await rotateKeys({ store, master: before, next, keepsOld, nowMs, audit: record });
        } catch (error) {
          // Refused: the database knows nothing of it. After any other error it may.
          if (error instanceof Problem && file !== null && !wasThere) rmSync(file, { force: true });
          throw error;
        }
        if (isInDataDir) {
          installKept(dataDir, fingerprint);
          master = next;
        }
        return {
          source,
          path: path ?? null,
          fingerprint,
          previous: before.fingerprint,
          is_finished: !keepsOld,
          secret_file: isInDataDir ? (path ?? null) : file,
          previous_file: isInDataDir ? keptPath(dataDir, before.fingerprint) : null,
          is_shared: isShared,
        };
      }),
    finish: ({ force = false }, { audit }) =>
      mutex.run(async () => {
        const { store, master: ours, source, dataDir } = own();
        const state = await store.read();
        const previous = otherWrapping(state, ours) ?? "";
        if (!force) await refuseOldNodes(fleet, wrappedAtMs(state) ?? 0);
        const { fingerprint } = ours;
        const record = audit({ subject: fingerprint, detail: { previous } });
        await finishRotation({ store, master: ours, audit: record });
        // The operator has it elsewhere by now.
        if (source !== "data directory") rmSync(keptPath(dataDir, fingerprint), { force: true });
        return status();
      }),
    cancel: (_, { audit }) =>
      mutex.run(async () => {
        const { store, master: ours, dataDir } = own();
        const dropped = otherWrapping(await store.read(), ours) ?? "";
        const record = audit({ subject: ours.fingerprint, detail: { dropped } });
        await cancelRotation({ store, master: ours, audit: record });
        rmSync(keptPath(dataDir, dropped), { force: true });
        return status();
      }),
  };
}

async function statusOf({
  store,
  master,
  source,
  path,
  dataDir,
}: MasterPlace): Promise<SecretStatusView> {
  const state = await store.read();
  const wrappings = wrappingsOf(state).map((fingerprint) => ({
    fingerprint,
    wrapped_at: toDateText(
      state.keys.find(({ wrapping }) => wrapping === fingerprint)?.wrappedAtMs ?? 0,
    ),
    is_current: fingerprint === state.fingerprint,
    is_ours: fingerprint === master.fingerprint,
  }));
  const created = new Map(state.keys.map((key) => [key.purpose, key.createdAtMs]));
  return {
    source,
    path: path ?? null,
    fingerprint: master.fingerprint,
    wrappings,
    is_finished: wrappings.length === 1,
    data_keys: [...created].map(([purpose, ms]) => ({ purpose, created_at: toDateText(ms) })),
    kept: keptFingerprints(dataDir),
  };
}

/** They were started with the previous secret: where it is in their environment, they still have it. */
async function refuseOldNodes(
  fleet: SecretDependencies["fleet"],
  rotatedAtMs: number,
): Promise<void> {
  const nodes = (await fleet?.nodes()) ?? [];
  const old = nodes.filter(
    ({ state, startedAtMs }) => state !== "stopped" && startedAtMs < rotatedAtMs,
  );
  if (old.length === 0) return;
  const names = old.slice(0, 5).map(({ name }) => name);
  throw conflict({
    finish: `These nodes have not been restarted since the rotation, so they may not start again without the previous secret: ${names.join(", ")}${old.length > names.length ? `, and ${old.length - names.length} more` : ""}. Restart them with the new secret, or add --force.`,
  });
}

function checked(secret: string): string {
  const text = secret.trim();
  if (text.length >= fewestCharacters) return text;
  throw invalid({
    secret_file: `secret_file must contain at least ${fewestCharacters} random characters (openssl rand -hex 32).`,
  });
}
