import type { Wrong } from "./setting-readers.ts";

/** How one setting is named, read and shown. */
export interface Setting<T> {
  readonly env: `SVC_${string}`;
  readonly about: string;
  /** Decimal text as the default is read like any other value; undefined means "not set". */
  readonly fallback: string | undefined;
  /** A default that depends on the settings above it. */
  readonly otherwise?: (values: Readonly<Record<string, unknown>>) => string;
  readonly read: (text: string) => T | Wrong;
  /** Secrets and the path of the config file cannot be in the config file. */
  readonly inFile?: false;
  readonly hidden?: true;
  /** For values that contain a secret. */
  readonly show?: (text: string) => string;
}

export interface SettingsInput {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The `settings:` part of the config file, every scalar as text. */
  readonly file: Readonly<Record<string, unknown>>;
  /** Names that the config file uses as `${NAME}`: these are not unknown settings. */
  readonly references: ReadonlySet<string>;
}

/** The name of a setting in the config file: SVC_MAX_CALL_S is `max_call_s`. */
export const fileName = (env: string) => env.slice("SVC_".length).toLowerCase();
