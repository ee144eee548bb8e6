import { fileName, type Setting, type SettingsInput } from "./setting.ts";
import { closest } from "./suggestion.ts";

/** Names that no setting has: a typing error would otherwise go unnoticed. */
export function unknownSettings(
  all: readonly Setting<unknown>[],
  { environment, file, references }: SettingsInput,
): string[] {
  const environmentNames = all.map((setting) => setting.env as string);
  const fileNames = all
    .filter((setting) => setting.inFile !== false)
    .map((setting) => fileName(setting.env));
  const problems = Object.keys(environment)
    .filter(
      (name) =>
        name.startsWith("SVC_") && !environmentNames.includes(name) && !references.has(name),
    )
    .map((name) => `${name} is not a setting.${hint(name, environmentNames)}`);
  for (const name of Object.keys(file))
    if (!fileNames.includes(name))
      problems.push(`settings.${name} ${notInFile(name, all, fileNames)}`);
  return problems;
}

function notInFile(
  name: string,
  all: readonly Setting<unknown>[],
  fileNames: readonly string[],
): string {
  const setting = all.find((candidate) => fileName(candidate.env) === name);
  return setting === undefined
    ? `is not a setting.${hint(name, fileNames)}`
    : `can only be set in the environment, as ${setting.env}.`;
}

function hint(name: string, known: readonly string[]): string {
  const found = closest(name, known);
  return found === undefined ? " svc config lists the settings." : ` Did you mean ${found}?`;
}
