import { invalid, Problem } from "../../base/problem.ts";
import type { ProviderEntry, StoredOption } from "../../catalog/model.ts";
import { defaultKey, keysOf } from "../../catalog/provider-keys.ts";
import { isMachineReference } from "../../secrets/secrets.ts";
import type { ProviderChanges } from "./schemas.ts";

/**
 * A stored secret is for the host that it was entered for. Otherwise a borrowed session could read
 * every key, by pointing its provider at a server of its own.
 */
export function checkKeptSecrets(options: {
  readonly before: ProviderEntry;
  readonly after: ProviderEntry;
  readonly changes: ProviderChanges;
}): void {
  const { before, after, changes } = options;
  const { api_key: given, options: passed = {} } = changes;
  if (originOf(before) === originOf(after)) return;
  const { name } = after;
  const keys = keysOf(after)
    .filter((key) => isSealed(key.secret) && isKept(before, key.name))
    .filter((key) => key.name !== defaultKey || typeof given !== "string");
  const others = keys.filter((key) => key.name !== defaultKey).map((key) => key.name);
  const rule = `A stored key is not sent to another address.`;
  if (others.length > 0)
    throw invalid({
      base_url: `${rule} Remove the keys ${others.join(", ")} first, or add the address as another provider.`,
    });
  if (keys.length > 0)
    throw new Problem({
      code: "invalid",
      message: `${rule} Enter the API key again.`,
      field: "api_key",
      command: `provider update ${name} --base-url URL --key-stdin`,
    });
  const [option] = Object.entries(after.options ?? {}).flatMap(([key, value]) =>
    isSealed(value) && before.options?.[key] !== undefined && !isGiven(passed, key) ? [key] : [],
  );
  if (option !== undefined)
    throw invalid({
      [`options.${option}`]: `A stored secret is not sent to another address. Enter ${option} again.`,
    });
}

/** A file is read, and a command is run, on the machine of the gateway: it is as secret. */
const isSealed = (secret: StoredOption) =>
  "sealed" in secret || ("variable" in secret && isMachineReference(secret.variable));
const isKept = (before: ProviderEntry, name: string) =>
  keysOf(before).some((key) => key.name === name);
const isGiven = (passed: NonNullable<ProviderChanges["options"]>, option: string) =>
  typeof passed[option] === "string";

/** Where the kind makes the address itself, it is the vendor's own. */
function originOf({ kind, baseUrl }: ProviderEntry): string {
  return baseUrl === "" ? kind : new URL(baseUrl).origin;
}
