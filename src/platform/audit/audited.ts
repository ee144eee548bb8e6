import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { PeopleStore } from "../../people/store.ts";
import type { Operations } from "../operations.ts";

type Named = Readonly<Record<string, unknown>>;

/** How the audit log calls what a command changes. What only reads is not in it. */
const actions: Readonly<Partial<Record<keyof Operations, string>>> = {
  createAccount: "account.create",
  suspendAccount: "account.suspend",
  resumeAccount: "account.resume",
  setAccountLimits: "account.limit",
  createKey: "key.create",
  revokeKey: "key.revoke",
  rotateKey: "key.rotate",
  updateKey: "key.update",
  setKeyLimits: "key.limit",
  addEntry: "account.credit",
  inviteOperator: "operator.invite",
  resetPassword: "person.reset",
  setPrice: "price.set",
  importPrices: "price.import",
  addEntries: "manifest.add",
  addProvider: "provider.add",
  updateProvider: "provider.update",
  removeProvider: "provider.remove",
  serveOffered: "provider.models",
  resetProvider: "provider.reset",
  createModel: "model.create",
  updateModel: "model.update",
  setRoutes: "model.routes",
  addRoute: "model.route.add",
  updateRoute: "model.route.update",
  removeRoute: "model.route.remove",
  deprecateModel: "model.deprecate",
  retireModel: "model.retire",
  applyManifest: "manifest.apply",
};

/** Inputs that say what was changed and hold no secret. */
const toldInputs = [
  "name",
  "vendor",
  "base_url",
  "provider",
  "kind",
  "usd",
  "reference",
  "rpm",
  "tpm",
  "concurrency",
  "budget",
  "models",
  "expires",
  "overlap",
  "price",
  "from",
  "retires",
  "replacement",
  "markup",
];

export interface AuditOptions {
  readonly operations: Operations;
  readonly people: PeopleStore;
  readonly clock: Clock;
  /** Who is noted down: the command line, unless told. */
  readonly by?: string;
}

/** The operations as commands use them: what they change is noted down. */
export function audited({ operations, people, clock, by }: AuditOptions): Operations {
  const wrapped = Object.entries(operations).map(([name, operation]) => {
    const action = actions[name as keyof Operations];
    if (action === undefined) return [name, operation] as const;
    const run = operation as (input: Named) => Promise<unknown>;
    const noted = async (input: Named) => {
      const result = await run(input);
      if (input["dryRun"] === true) return result;
      const atMs = clock.nowMs();
      await people.addAudit({
        id: newId("audit", atMs),
        atMs,
        actor: { kind: "command", id: "", name: by ?? "command line" },
        accountId: accountIn(result),
        action,
        subject: subjectOf(input, result),
        detail: {
          ...Object.fromEntries(
            toldInputs.flatMap((key) => (input[key] === undefined ? [] : [[key, input[key]]])),
          ),
          ...changesIn(result),
        },
        address: "",
      });
      return result;
    };
    return [name, noted] as const;
  });
  return Object.fromEntries(wrapped) as unknown as Operations;
}

const isNamed = (value: unknown): value is Named => typeof value === "object" && value !== null;
const textAt = (value: unknown, key: string) => {
  const found = isNamed(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
};

/** Views of accounts have an id of their own, those of keys and entries an account. */
function accountIn(result: unknown): string | undefined {
  const id = textAt(result, "id");
  return textAt(result, "account") ?? (id?.startsWith("acct_") === true ? id : undefined);
}

/** What a manifest created, changed and removed. */
function changesIn(result: unknown): Named {
  const differences = isNamed(result) ? result["differences"] : undefined;
  if (!Array.isArray(differences)) return {};
  const changed = differences
    .filter((one) => isNamed(one) && one["action"] !== "keep")
    .map((one: Named) => `${one["action"]} ${one["kind"]} ${one["name"]}`);
  return { changed };
}

function subjectOf(input: Named, result: unknown): string {
  for (const key of ["id", "model"]) {
    const found = textAt(result, key) ?? textAt(input, key);
    if (found !== undefined) return found;
  }
  const named = textAt(input, "email") ?? textAt(input, "name");
  return named ?? (isNamed(result) && "differences" in result ? "catalogue" : "");
}
