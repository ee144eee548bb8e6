import { conflict, invalid, Problem } from "../base/problem.ts";
import { isMachineReference } from "../base/stored-reference.ts";
import type { ProviderEntry, StoredOption } from "../catalog/model.ts";
import { defaultKey, keysOf } from "../catalog/provider-keys.ts";

interface Change {
  readonly before: ProviderEntry;
  readonly after: ProviderEntry;
}

/**
 * A stored secret is for the host that it was entered for. Otherwise a borrowed session could read
 * every key, by pointing its provider at a server of its own. A value that is entered again for
 * another host is sealed again, so equal bytes were not entered again.
 */
export function checkKeptSecrets(change: Change): void {
  const { keys, options } = movedSecrets(change, isSecret);
  const others = keys.filter((name) => name !== defaultKey);
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
      command: `provider update ${change.after.name} --base-url URL --key-stdin`,
    });
  const [option] = options;
  if (option !== undefined)
    throw invalid({
      [`options.${option}`]: `A stored secret is not sent to another address. Enter ${option} again.`,
    });
}

/** A key that is entered while another change moves its provider is for the earlier host. */
export function refuseMoved({ before, after }: Change): void {
  if (!isSameHost(before, after))
    throw conflict({
      base_url: `The address of ${after.name} was changed meanwhile. Check it, and try again.`,
    });
}

/** For svc.yaml, which may name any file or command itself. */
export function checkKeptLiterals(change: Change): void {
  const { keys, options } = movedSecrets(change, (secret) => "sealed" in secret);
  const [key] = keys;
  const [field = key === defaultKey ? "api_key" : key && `key ${key}`] = options;
  if (field !== undefined)
    throw new Problem({
      code: "invalid",
      message: `Provider ${change.after.name}: a stored secret is not sent to another address. Write ${field} again, or leave base_url as it was.`,
      field,
    });
}

/** Names of the secrets that stay although the address does not. */
function movedSecrets(
  { before, after }: Change,
  isKind: (secret: StoredOption) => boolean,
): { readonly keys: readonly string[]; readonly options: readonly string[] } {
  if (isSameHost(before, after)) return { keys: [], options: [] };
  const known = secretsOf(before).map(([, secret]) => secret);
  const moved = ([, secret]: readonly [string, StoredOption]) =>
    isKind(secret) && known.some((one) => Bun.deepEquals(one, secret));
  const names = (all: readonly (readonly [string, StoredOption])[]) =>
    all.filter(moved).map(([name]) => name);
  return { keys: names(keySecrets(after)), options: names(Object.entries(after.options ?? {})) };
}

const keySecrets = (entry: ProviderEntry) =>
  keysOf(entry).map(({ name, secret }) => [name, secret] as const);

const secretsOf = (entry: ProviderEntry): readonly (readonly [string, StoredOption])[] => [
  ...keySecrets(entry),
  ...Object.entries(entry.options ?? {}),
];

/** A file is read, and a command is run, on the machine of the gateway: it is as secret. */
const isSecret = (secret: StoredOption) =>
  "sealed" in secret || ("variable" in secret && isMachineReference(secret.variable));

type Place = Pick<ProviderEntry, "kind" | "baseUrl">;

export const isSameHost = (one: Place, other: Place): boolean => hostOf(one) === hostOf(other);

/** Where the kind makes the address itself, it is the vendor's own. */
const hostOf = ({ kind, baseUrl }: Place): string =>
  baseUrl === "" ? kind : new URL(baseUrl).origin;
