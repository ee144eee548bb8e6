import type { Dialect } from "../../../call/dialect.ts";

/** The variable that tools read the API key from, unless it is written into their file. */
export const keyVariable = "SVC_API_KEY";

/** What a tool is connected to. */
export interface Target {
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** The same without /v1: tools of the Messages API add it themselves. */
  readonly rootUrl: string;
  readonly model: string;
  /** The size of its context in tokens, where the catalog has it. */
  readonly contextTokens: number | undefined;
  /** Only where it is to be written into the file of the tool. */
  readonly key: string | undefined;
}

export type Scalar = string | number | boolean;
export type SettingValue = Scalar | readonly SettingValue[] | Settings;
export interface Settings {
  readonly [name: string]: SettingValue;
}

/** An element of a list, found by one of its fields. */
export interface Entry {
  readonly path: readonly string[];
  readonly by: string;
  readonly entry: Settings;
}

/** What a tool needs in its file. Everything else in it stays. */
export interface FileSettings {
  readonly settings: Settings;
  /** Set only where the file does not have them. */
  readonly defaults?: Settings;
  readonly entries?: readonly Entry[];
  /** Settings that conflict with ours: a warning names those that the file has. */
  readonly rivals?: readonly (readonly string[])[];
}

export type FileFormat = "json" | "toml" | "yaml";

export interface ToolFile extends FileSettings {
  readonly format: FileFormat;
  /** The first that exists, or else the first. */
  readonly paths: readonly [string, ...string[]];
}

/** The value of a variable: text, or what another variable has. */
export type VariableValue = string | { readonly variable: string };

export interface Sample {
  readonly title: string;
  readonly language: "sh" | "python" | "ts";
  readonly text: string;
}

/** How a tool is connected. */
export interface Connection {
  readonly file?: ToolFile;
  readonly environment?: Readonly<Record<string, VariableValue>>;
  readonly samples?: readonly Sample[];
  readonly steps: readonly string[];
}

/** Where tools have their files on this machine. */
export interface Places {
  /** Below the home directory, as people write it: `~/.codex`. */
  readonly home: (path: string) => string;
  /** Below the directory that a variable names, or else one below the home directory. */
  readonly named: (variable: string, usual: string, path: string) => string;
  readonly isMac: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** The API that it calls. */
  readonly dialect: Dialect;
  /** Whether its file can hold the key itself. */
  readonly holdsKey: boolean;
  readonly connect: (target: Target, places: Places) => Connection;
}

export const fromVariable = { variable: keyVariable } as const;
export const setKey = `Set ${keyVariable} to an API key. svc key create --account NAME creates one.`;
