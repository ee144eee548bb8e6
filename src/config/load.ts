import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { baseDir } from "../base/place.ts";
import { Problem } from "../base/problem.ts";
import { parseYaml, yamlValue } from "../base/text/yaml.ts";
import { schemeOf } from "./addresses.ts";
import { type OwnModel, readEngineSection } from "./engine-section.ts";
import { signInProblems } from "./groups/sign-in.ts";
import { KeyCommands } from "./key-commands.ts";
import { valueOf } from "./references.ts";
import { readSettingFiles } from "./setting-files.ts";
import { readSettings, type SettingInForce, type Settings } from "./settings.ts";

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

export interface Configuration {
  readonly settings: Settings;
  readonly inForce: readonly SettingInForce[];
  /** The config file, if there is one. Reading this throws if the file in SVC_CONFIG does not exist. */
  readonly file: ConfigFile | undefined;
  /** The path of the config file, whether or not it exists. */
  readonly filePath: string;
  /** The operator's own models for the engine. */
  readonly engineModels: readonly OwnModel[];
  /** Whether the config file has an `engine:` section, if only an empty one. */
  readonly namesEngine: boolean;
  /** As it was read, for child processes. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What commands of `${command:…}` have printed for this process. */
  readonly commands: KeyCommands;
  /** Of `${NAME}` in the config file: a variable, the content of `file:/PATH`, or of a command. */
  readonly variable: (name: string) => string | undefined;
}

/** Environment over config file over defaults. Reports all problems at once. */
export function loadConfiguration(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Configuration {
  const named = environment["SVC_CONFIG"] ?? "";
  const filePath = named === "" ? join(baseDir, "svc.yaml") : resolve(baseDir, named);
  const file = readIfThere(filePath, named !== "");
  const section = file === undefined ? {} : settingsSection(file);
  const engine = readEngineSection(file && sectionOf(file, "engine"), file?.path ?? "");
  const references = new Set(
    [...(file?.text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g) ?? [])].map(
      (match) => match[1] ?? "",
    ),
  );
  const fromFiles = readSettingFiles(environment);
  const { settings, inForce, problems } = readSettings({
    environment: fromFiles.environment,
    file: section,
    references,
  });
  const together = problems.length === 0 ? signInProblems(settings) : [];
  const all = [
    ...fromFiles.problems,
    ...problems,
    ...tlsProblems(settings),
    ...together,
    ...mailProblems(settings),
    ...engine.problems,
  ];
  if (all.length > 0) throw new Problem({ code: "invalid", message: all.join("\n") });
  const derived = derivedValues(settings, file?.path);
  const commands = new KeyCommands(environment, settings.keyCommandMs);
  return {
    settings,
    inForce: inForce.map((one) => ({ ...one, value: one.value ?? derived[one.name] ?? null })),
    // Checked when it is read, so that other commands work without the file.
    get file() {
      if (file === undefined && named !== "") throw notThere(filePath);
      return file;
    },
    filePath,
    engineModels: engine.models,
    namesEngine: file !== undefined && sectionOf(file, "engine") !== undefined,
    environment,
    commands,
    variable: (name) => valueOf(name, { environment, commands }),
  };
}

/**
 * One without the other is a mistake, as is an http address: keys and cookies must not cross a network
 * in the clear because of it.
 */
function tlsProblems({ tlsCert, tlsKey, publicUrl, platformUrl }: Settings): readonly string[] {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return Object.entries({ SVC_PUBLIC_URL: publicUrl, SVC_PLATFORM_URL: platformUrl })
      .filter(([, url]) => url?.startsWith("http:"))
      .map(([name]) => `${name} must be an https address, because SVC_TLS_CERT is set.`);
  if (tlsCert === tlsKey) return [];
  const [set, missing] =
    tlsCert === undefined ? ["SVC_TLS_KEY", "SVC_TLS_CERT"] : ["SVC_TLS_CERT", "SVC_TLS_KEY"];
  return [`${set} is set without ${missing}. Set both, or unset ${set}.`];
}

function mailProblems({ smtpUrl, mailFrom }: Settings): readonly string[] {
  return smtpUrl !== undefined && mailFrom === undefined
    ? ["SVC_MAIL_FROM must be set together with SVC_SMTP_URL. It is the sender of all mails."]
    : [];
}

/** The effective values of settings that were not set, for display. */
function derivedValues(settings: Settings, configPath: string | undefined): Record<string, string> {
  const { host, port, platformHost, platformPort, dataDir, secretFile } = settings;
  const scheme = schemeOf(settings);
  return {
    SVC_PUBLIC_URL: `${scheme}://${host}:${port}`,
    SVC_PLATFORM_URL: `${scheme}://${platformHost}:${platformPort}`,
    SVC_CORS_ORIGINS: `${scheme}://${platformHost}:${platformPort},${scheme}://localhost:${platformPort}`,
    SVC_DATABASE_URL: `sqlite:${join(dataDir, "svc.db")}`,
    SVC_SECRET: `in ${secretFile ?? join(dataDir, "secret")}`,
    ...(configPath === undefined ? {} : { SVC_CONFIG: configPath }),
  };
}

/** Throws if the `settings:` of a file that is about to be applied are invalid. */
export function checkSettings(file: { readonly path: string; readonly text: string }): void {
  const section = settingsSection(file);
  const { problems } = readSettings({ environment: {}, file: section, references: new Set() });
  const engine = readEngineSection(sectionOf(file, "engine"), file.path);
  const all = [...problems, ...engine.problems];
  if (all.length > 0) throw new Problem({ code: "invalid", message: all.join("\n") });
}

function readIfThere(path: string, isNamed: boolean): ConfigFile | undefined {
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT") return undefined;
    const reason =
      code === "EACCES"
        ? ` by this user (${code}). Let a group of this user read the file and enter its directory, with chgrp and chmod g+rX.`
        : `: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new Problem({
      code: "invalid",
      message: `The config file ${path}${isNamed ? " (SVC_CONFIG)" : ""} cannot be read${reason}`,
      cause,
    });
  }
}

const notThere = (path: string) =>
  new Problem({
    code: "invalid",
    message: `The config file ${path} (SVC_CONFIG) does not exist. Create it, or unset SVC_CONFIG.`,
    command: "init --print",
  });

function settingsSection(file: { path: string; text: string }): Record<string, unknown> {
  const section = sectionOf(file, "settings");
  if (section === undefined || section === "") return {};
  if (!isRecord(section))
    throw new Problem({
      code: "invalid",
      message: `${file.path}: settings must be a mapping, such as { port: 8080 }.`,
    });
  return section;
}

function sectionOf({ path, text }: { path: string; text: string }, name: string): unknown {
  const { document, lineCounter, problems } = parseYaml(text);
  const [problem] = problems;
  if (problem !== undefined) throw new Problem({ code: "invalid", message: `${path}: ${problem}` });
  const root = yamlValue(document, lineCounter);
  return isRecord(root) ? root[name] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
