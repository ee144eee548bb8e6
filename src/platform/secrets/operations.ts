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
  isSecretLinked,
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

/** What gives processes their secret, and has to be changed for a new one. */
export type SecretCarrier =
  | "variable"
  | "file"
  /** Of systemd, which copies it from another file at each start. */
  | "credential"
  /** `secret` in the data directory is a symbolic link. */
  | "link"
  | "data directory";

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
  readonly carrier: SecretCarrier;
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
  readonly isCredential?: boolean;
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
        const place = own();
        const { store, master: before, source, path, dataDir } = place;
        const carrier = carrierOf(place);
        const isOurs = carrier === "data directory";
        const keepsOld = isShared || !isOurs;
        const text = secret === undefined ? randomBytes(32).toString("hex") : checked(secret);
        const next = new MasterKey(text);
        const { fingerprint } = next;
        // The present secret is refused below, and has a file already.
        const isNew = fingerprint !== before.fingerprint;
        const isWritten = isNew && (isOurs || secret === undefined);
        const file = isWritten ? keptPath(dataDir, fingerprint) : null;
        const wasThere = file !== null && existsSync(file);
        // On the disk before the database needs it.
        if (file !== null) keepSecret(dataDir, text);
        try {
          const detail = { previous: before.fingerprint, is_finished: !keepsOld };
          const record = audit({ subject: fingerprint, detail });
          const nowMs = clock.nowMs();
          await rotateKeys({ store, master: before, next, keepsOld, nowMs, audit: record });
        } catch (error) {
          // After any other error, the database may need it.
          const isRefused = error instanceof Problem && error.code === "conflict";
          // Another process may have rotated to the same secret.
          const isUnused = isRefused && !wrappingsOf(await store.read()).includes(fingerprint);
          if (isUnused && file !== null && !wasThere) rmSync(file, { force: true });
          throw error;
        }
        if (isOurs) {
          installKept(dataDir, fingerprint);
          master = next;
        }
        return {
          source,
          carrier,
          path: path ?? null,
          fingerprint,
          previous: before.fingerprint,
          is_finished: !keepsOld,
          secret_file: isOurs ? (path ?? null) : file,
          previous_file: isOurs ? keptPath(dataDir, before.fingerprint) : null,
          is_shared: isShared,
        };
      }),
    finish: ({ force = false }, { audit }) =>
      mutex.run(async () => {
        const { store, master: ours } = own();
        const state = await store.read();
        const previous = otherWrapping(state, ours) ?? "";
        if (!force) await refuseOldNodes(fleet, wrappedAtMs(state) ?? 0);
        const record = audit({ subject: ours.fingerprint, detail: { previous } });
        // The file of the new secret stays: a setting or a link may name it, or nobody has a copy.
        await finishRotation({ store, master: ours, audit: record });
        return status();
      }),
    cancel: (_, { audit }) =>
      mutex.run(async () => {
        const { store, master: ours } = own();
        const dropped = otherWrapping(await store.read(), ours) ?? "";
        const record = audit({ subject: ours.fingerprint, detail: { dropped } });
        // The file of the dropped secret stays: backups from during the rotation need it.
        await cancelRotation({ store, master: ours, audit: record });
        return status();
      }),
  };
}

function carrierOf({ source, isCredential = false, dataDir }: MasterPlace): SecretCarrier {
  if (source === "SVC_SECRET") return "variable";
  if (source === "SVC_SECRET_FILE") return isCredential ? "credential" : "file";
  return isSecretLinked(dataDir) ? "link" : "data directory";
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
