import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

/** A chat model of the operator's own, run by the engine. */
export interface OwnModel {
  readonly name: string;
  /** A GGUF file. */
  readonly file: string;
  readonly contextTokens: number;
  readonly parallel: number;
}

export interface EngineSection {
  readonly models: readonly OwnModel[];
  readonly problems: readonly string[];
}

const fields: readonly string[] = ["file", "context", "parallel"];

/** The `engine:` section of the config file. Paths are relative to the folder of the config file. */
export function readEngineSection(value: unknown, configPath: string): EngineSection {
  const problems: string[] = [];
  if (value === undefined || value === "") return { models: [], problems };
  const section = asMap(value, "engine", problems);
  for (const name of Object.keys(section))
    if (name !== "models")
      problems.push(`engine.${name} is not a known field. The only field is models.`);
  const models = Object.entries(asMap(section["models"] ?? {}, "engine.models", problems)).map(
    ([name, entry]): OwnModel => {
      const at = `engine.models.${name}`;
      if (!/^[A-Za-z0-9][\w.-]{0,62}$/.test(name) || embeddedNames.includes(name))
        problems.push(
          `${at} is not a valid name. Use letters, digits, -, _ and ., but not ${embeddedNames.join(", ")}.`,
        );
      const given = asMap(entry, at, problems);
      for (const field of Object.keys(given))
        if (!fields.includes(field))
          problems.push(
            `${at}.${field} is not a known field. The fields are ${fields.join(", ")}.`,
          );
      const whole = (field: string, fallback: number, [least, most]: readonly [number, number]) => {
        const text = given[field] ?? String(fallback);
        const number = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN;
        if (number >= least && number <= most) return number;
        problems.push(`${at}.${field} must be a whole number from ${least} to ${most}.`);
        return fallback;
      };
      return {
        name,
        file: toPath(given["file"], dirname(configPath)) ?? missing(at, problems),
        contextTokens: whole("context", 4096, [128, 1_048_576]),
        parallel: whole("parallel", 1, [1, 64]),
      };
    },
  );
  return { models, problems };
}

/** Models whose weights cannot be replaced. */
const embeddedNames = ["text", "image", "speech-flash", "speech-pro"];

function toPath(value: unknown, folder: string): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return resolve(folder, value.replace(/^~(?=\/)/, homedir()));
}

function missing(at: string, problems: string[]): string {
  problems.push(`${at}.file is missing. Set it to the path of a GGUF file.`);
  return "";
}

function asMap(value: unknown, at: string, problems: string[]): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  problems.push(`${at} must be a mapping.`);
  return {};
}
