import { withoutPassword } from "../base/text/passwords.ts";
import { callsSettings } from "./groups/calls.ts";
import { dataSettings } from "./groups/data.ts";
import { engineSettings } from "./groups/engine.ts";
import { listenSettings } from "./groups/listen.ts";
import { mailSettings } from "./groups/mail.ts";
import { sessionSettings } from "./groups/sessions.ts";
import { signInSettings } from "./groups/sign-in.ts";
import { telemetrySettings } from "./groups/telemetry.ts";
import { fileName, type Setting, type SettingsInput } from "./setting.ts";
import { Wrong } from "./setting-readers.ts";
import { unknownSettings } from "./unknown-settings.ts";

/** The one list of settings. Nothing else in the program reads the environment. */
export const settingList = {
  ...listenSettings,
  ...dataSettings,
  ...sessionSettings,
  ...signInSettings,
  ...mailSettings,
  ...engineSettings,
  ...callsSettings,
  ...telemetrySettings,
} as const satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof settingList;
type Value<N extends SettingName> = Exclude<ReturnType<(typeof settingList)[N]["read"]>, Wrong>;
/** Those without a default. */
type Optional = {
  [N in SettingName]: (typeof settingList)[N] extends { readonly otherwise: unknown }
    ? never
    : (typeof settingList)[N] extends { readonly fallback: undefined }
      ? N
      : never;
}[SettingName];

export type Settings = Readonly<
  { [N in Exclude<SettingName, Optional>]: Value<N> } & { [N in Optional]: Value<N> | undefined }
>;

type Source = "environment" | "file" | "default";
/** A setting as `svc config` shows it. */
export interface SettingInForce {
  readonly name: string;
  /** Null if it can only be set in the environment. */
  readonly nameInFile: string | null;
  readonly value: string | null;
  readonly source: Source;
  readonly about: string;
}

export interface SettingsRead {
  readonly settings: Settings;
  readonly inForce: readonly SettingInForce[];
  readonly problems: readonly string[];
}

/** Reads all settings and reports every problem at once. */
export function readSettings({ environment, file, references }: SettingsInput): SettingsRead {
  const problems = unknownSettings(Object.values(settingList), { environment, file, references });
  const values: Record<string, unknown> = {};
  const inForce: SettingInForce[] = [];
  for (const [name, setting] of Object.entries<Setting<unknown>>(settingList)) {
    const { text: said, source, at } = whereFrom(setting, environment, file);
    const text = said ?? setting.otherwise?.(values);
    const value = text === undefined ? undefined : setting.read(text);
    if (value instanceof Wrong)
      problems.push(`${at} must be ${value.expected}${given(setting, text)}.`);
    else values[name] = value;
    inForce.push({
      name: setting.env,
      nameInFile: setting.inFile === false ? null : fileName(setting.env),
      value: shown(setting, value),
      source,
      about: setting.about,
    });
  }
  return { settings: values as Settings, inForce, problems };
}

/**
 * Not for settings that may hold a secret: one that cannot be read may have it anywhere. People put
 * passwords into other addresses too, also into those without a scheme.
 */
function given({ hidden, show }: Setting<unknown>, text = ""): string {
  if (hidden || show !== undefined) return "";
  return `, not "${/^[^=]*[:/].*@/s.test(text) ? withoutPassword(text) : text}"`;
}

function whereFrom(
  setting: Setting<unknown>,
  environment: SettingsInput["environment"],
  file: SettingsInput["file"],
) {
  const fromEnvironment = environment[setting.env];
  // Shells and compose files leave empty variables behind. They count as not set.
  if (fromEnvironment !== undefined && fromEnvironment !== "")
    return { text: fromEnvironment, source: "environment", at: setting.env } as const;
  const name = fileName(setting.env);
  const value = setting.inFile === false ? undefined : file[name];
  if (value !== undefined && value !== null) {
    const text = Array.isArray(value) ? value.join(",") : String(value);
    return { text, source: "file", at: `settings.${name}` } as const;
  }
  return { text: setting.fallback, source: "default", at: setting.env } as const;
}

/** By the end of a setting's name. */
const unitsMs: Readonly<Record<string, number>> = { _S: 1_000, _H: 3_600_000, _D: 86_400_000 };

function shown(setting: Setting<unknown>, value: unknown): string | null {
  if (value === undefined || value instanceof Wrong) return null;
  if (setting.hidden) return "(set)";
  if (setting.show !== undefined) return setting.show(String(value));
  const unitMs = unitsMs[setting.env.slice(setting.env.lastIndexOf("_"))];
  if (unitMs !== undefined && typeof value === "number") return String(value / unitMs);
  return Array.isArray(value) ? value.join(",") : String(value);
}
