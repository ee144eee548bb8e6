import { invalid } from "../../base/problem.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry, StoredOption } from "../../catalog/model.ts";
import { keysOf } from "../../catalog/provider-keys.ts";
import { providerKindShapes } from "../../catalog/provider-kinds.ts";
import { isOwnAddress, vendors } from "../../catalog/vendors.ts";
import { variablesOf } from "../../exports/destination.ts";
import type { ExportStore } from "../../exports/store.ts";
import { isSameHost } from "../../manifest/kept-secrets.ts";
import type { Actor } from "../audit/author.ts";

/**
 * The environment contains vendors' keys and more, such as the secrets of exports. Over HTTP, a
 * borrowed session could send any of them to its own server. So there, a variable is for the address
 * of its own vendor, or for a host at which svc.yaml or a command uses it in the same way. Commands on
 * the machine and svc.yaml may name any variable. An export's variable is refused over HTTP, even if
 * it has the name of a vendor's key.
 */
export async function checkVariables(options: {
  readonly entry: ProviderEntry;
  /** What svc.yaml and commands have set up. */
  readonly content: CatalogContent;
  readonly exports: Pick<ExportStore, "list">;
  readonly actor: Actor;
}): Promise<void> {
  const { entry, content, exports, actor } = options;
  if (actor.kind === "command") return;
  checkFiles(entry, content);
  const neighbors = content.providers.filter((one) => isSameHost(one, entry));
  const known = new Set(neighbors.flatMap(usesOf).map(textOf));
  const uses = usesOf(entry).filter((use) => !known.has(textOf(use)) && !isOwn(use, entry));
  if (uses.length === 0) return;
  const taken = new Set((await exports.list()).flatMap(({ target }) => variablesOf(target)));
  const refused = uses.find(
    ({ option, variable }) =>
      option !== undefined || !isVendors(variable, entry) || taken.has(variable),
  );
  if (refused === undefined) return;
  const { option, variable } = refused;
  const [field, what] =
    option === undefined ? ["api_key", "API key"] : [`options.${option}`, `Option ${option}`];
  throw invalid({
    [field]: `${what} refers to the variable ${variable}, which over HTTP is not used at this address. Write \${${variable}} into svc.yaml, or enter the value here.`,
  });
}

/**
 * A file that svc.yaml or a command has named stays, for the same address. Another path would show
 * which files exist, and another address would get what the file signs in to.
 */
function checkFiles(entry: ProviderEntry, { providers }: CatalogContent): void {
  const before = providers.find(({ name }) => name === entry.name);
  const isSameAddress = before?.kind === entry.kind && before.baseUrl === entry.baseUrl;
  for (const [option, one] of Object.entries(entry.options ?? {})) {
    const content = providerKindShapes[entry.kind].options[option]?.contentOption;
    const isKept = isSameAddress && Bun.deepEquals(before.options?.[option], one);
    if (content === undefined || !("text" in one) || isKept) continue;
    throw invalid({
      [`options.${option}`]: `Option ${option} names a file, which only svc.yaml and commands can do. Enter the content as ${content}.`,
    });
  }
}

/** Where a variable is used: what signs a request is not to be sent as a key. */
interface Use {
  readonly kind: ProviderEntry["kind"];
  /** Undefined: as a key. */
  readonly option: string | undefined;
  readonly variable: string;
}

function usesOf(entry: ProviderEntry): readonly Use[] {
  const { kind, options = {} } = entry;
  const all: readonly (readonly [string | undefined, StoredOption])[] = [
    ...keysOf(entry).map(({ secret }) => [undefined, secret] as const),
    ...Object.entries(options).map(([name, one]) => [name, one] as const),
  ];
  return all.flatMap(([option, one]) =>
    "variable" in one ? [{ kind, option, variable: one.variable }] : [],
  );
}

/**
 * The variable that the vendor's own tools read this option from. At another address, it must not be
 * one that signs: a server gets the session token, or an access token for the credentials.
 */
function isOwn({ kind, option = "", variable }: Use, { baseUrl }: ProviderEntry): boolean {
  const shape = providerKindShapes[kind].options[option];
  const signs = shape?.isSecret === true || shape?.contentOption !== undefined;
  return shape?.variable === variable && (baseUrl === "" || !signs);
}

const isVendors = (variable: string, entry: ProviderEntry): boolean =>
  vendors.some((vendor) => vendor.keyVariables.includes(variable) && isOwnAddress(vendor, entry));

const textOf = ({ kind, option, variable }: Use): string =>
  option === undefined ? variable : `${kind} ${option} ${variable}`;
