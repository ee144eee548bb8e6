import { defined } from "../../base/defined.ts";
import type { LimitsView } from "../../platform/http/schemas.ts";
import type { LimitInputs } from "../../platform/input/limits.ts";
import type { KeyView, NewKeyView } from "../../platform/keys/schemas.ts";
import { type Command, type Invocation, viewCommand } from "../command.ts";
import { print, printTable, style } from "../terminal/output.ts";

/** The same for accounts and keys. */
export const limitFlags = {
  rpm: { about: "requests per minute, or none", value: "N" },
  tpm: { about: "tokens per minute, or none", value: "N" },
  concurrency: { about: "concurrent requests, or none", value: "N" },
  budget: {
    about:
      "maximum spend in USD: in total (5), per day (5/day) or per month (12.50/month), in UTC; or none",
    value: "USD",
  },
} as const;

export function readLimitFlags({ flags }: Pick<Invocation, "flags">): LimitInputs {
  const { rpm, tpm, concurrency, budget } = flags;
  return defined({ rpm, tpm, concurrency, budget });
}

/** In words; undefined without limits. */
export function limitsText(limits: LimitsView): string | undefined {
  const { rpm, tpm, concurrency, budget } = limits;
  const parts = [
    rpm === null ? "" : `${rpm} ${rpm === "1" ? "request" : "requests"} per minute`,
    tpm === null ? "" : `${tpm} ${tpm === "1" ? "token" : "tokens"} per minute`,
    concurrency === null ? "" : `${concurrency} concurrent`,
    budget === null
      ? ""
      : `${budget.replace("/", " USD per ")}${budget.includes("/") ? "" : " USD"}`,
  ].filter((text) => text !== "");
  return parts.length === 0 ? undefined : parts.join(", ");
}

const keyCreate = viewCommand({
  name: "key create",
  about: "Create an API key. It is shown only once.",
  flags: {
    account: { about: "id or name of the account that pays", value: "ID", required: true },
    name: { about: "name of the key", value: "NAME" },
    models: { about: "models it may call, separated by commas (default: all)", value: "A,B" },
    expires: { about: "date or time when it expires", value: "DATE" },
    ...limitFlags,
  },
  examples: [
    "svc key create --account default --name laptop",
    "svc key create --account acme --models svc-3-flash,svc-embedding-2 --expires 2027-01-31",
    "svc key create --account acme --name ci --rpm 60 --budget 5/day",
    "svc key create --account default --json | jq -r .key",
  ],
  load(operations, { flags }) {
    const { account = "", name, models, expires } = flags;
    return operations.keys.create({
      account,
      ...defined({ name, expires, models: models?.split(",").map((id) => id.trim()) }),
      ...readLimitFlags({ flags }),
    });
  },
  show(created) {
    printSecret("created", created);
  },
});

function printSecret(what: string, { id, key, warnings }: NewKeyView): void {
  print(`${style.green(what)} key ${style.dim(id)}\n\n  ${style.bold(key)}\n`);
  print("This key is shown only once. Save it now.");
  printWarnings(warnings);
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) print(`${style.yellow("!")} ${warning}`);
}

const keyList = viewCommand({
  name: "key list",
  about: "List keys, without their secrets.",
  flags: { account: { about: "only the keys of this account", value: "ID" } },
  examples: ["svc key list", "svc key list --account default --json"],
  load: (operations, { flags: { account } }) => operations.keys.list(defined({ account })),
  show(keys) {
    printKeys(keys);
  },
});

const keyRevoke = viewCommand({
  name: "key revoke",
  about: "Revoke a key immediately and permanently.",
  positionals: ["ID"],
  examples: ["svc key revoke key_0199…"],
  load: (operations, { positionals: [id = ""] }) => operations.keys.revoke({ id }),
  show(key) {
    print(`${style.green("revoked")} ${key.id} ${key.hint}`);
  },
});

const keyLimit = viewCommand({
  name: "key limit",
  needsChange: true,
  about: "Set the limits of a key. Omitted limits stay unchanged.",
  positionals: ["ID"],
  flags: limitFlags,
  examples: [
    "svc key limit key_0199… --rpm 60 --tpm 100000",
    "svc key limit key_0199… --budget 12.50/month",
    "svc key limit key_0199… --rpm none",
  ],
  load: (operations, { positionals: [id = ""], flags }) =>
    operations.keys.setLimits({ id, ...readLimitFlags({ flags }) }),
  show(key) {
    print(`${style.green("set")} ${key.id} ${key.hint}: ${limitsText(key.limits) ?? "no limits"}`);
  },
});

const keyRotate = viewCommand({
  name: "key rotate",
  about:
    "Replace the secret of a key. The new one is shown only once; the old one works until the overlap ends.",
  positionals: ["ID"],
  flags: {
    overlap: {
      about:
        "how long the old secret still works, such as 30m, 24h or 7d; 0 ends it now (default: 24h)",
      value: "TIME",
    },
  },
  examples: [
    "svc key rotate key_0199…",
    "svc key rotate key_0199… --overlap 7d",
    "svc key rotate key_0199… --overlap 0 --json | jq -r .key",
  ],
  load: (operations, { positionals: [id = ""], flags: { overlap } }) =>
    operations.keys.rotate({ id, ...defined({ overlap }) }),
  show(rotated) {
    printSecret("rotated", rotated);
    const { previous } = rotated;
    if (previous === null) print("The previous secret no longer works.");
    else print(`The previous secret (${previous.hint}) works until ${previous.expires_at}.`);
  },
});

const keyUpdate = viewCommand({
  name: "key update",
  needsChange: true,
  about: "Change the name of a key or the models it may call.",
  positionals: ["ID"],
  flags: {
    name: { about: "name of the key", value: "NAME" },
    models: { about: "models it may call, separated by commas, or all", value: "A,B" },
  },
  examples: [
    "svc key update key_0199… --name laptop",
    "svc key update key_0199… --models svc-3-flash,svc-embedding-2",
    "svc key update key_0199… --models all",
  ],
  load(operations, { positionals: [id = ""], flags: { name, models } }) {
    const list = models === "all" ? null : models?.split(",").map((one) => one.trim());
    return operations.keys.update({
      id,
      ...defined({ name, models: list }),
    });
  },
  show(key) {
    const allowed = key.models === null ? "all models" : key.models.join(", ");
    print(`${style.green("set")} ${key.id} ${key.hint}: ${key.name || "no name"}, ${allowed}`);
    printWarnings(key.warnings);
  },
});

export const keyCommands: readonly Command[] = [
  keyCreate,
  keyList,
  keyRevoke,
  keyLimit,
  keyRotate,
  keyUpdate,
];

export function printKeys(keys: readonly KeyView[]): void {
  if (keys.length === 0) return print("No keys yet. Create one: svc key create --account ID");
  printTable(
    ["id", "key", "name", "account", "state", "models", "expires", "last used", "limits"],
    keys.map((key) => [
      key.id,
      key.hint,
      key.name || null,
      key.account,
      key.status,
      key.models === null ? "all" : key.models.join(","),
      key.expires_at,
      key.last_used_at?.slice(0, 10) ?? "never",
      limitsText(key.limits) ?? null,
    ]),
  );
}
