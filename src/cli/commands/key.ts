import { defined } from "../../base/defined.ts";
import { Problem } from "../../base/problem.ts";
import type { LimitsView } from "../../platform/http/schemas.ts";
import type { LimitInputs } from "../../platform/input/limits.ts";
import type { KeyView, NewKeyView } from "../../platform/keys/schemas.ts";
import type { Operations } from "../../platform/operations.ts";
import { type Command, type Invocation, viewCommand } from "../command.ts";
import { agoText, cutText } from "../terminal/ago.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";

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

const count = (text: string) => Number(text).toLocaleString("en");

/** In words; undefined without limits. */
export function limitsText(limits: LimitsView): string | undefined {
  const { rpm, tpm, concurrency, budget } = limits;
  const parts = [
    rpm === null ? "" : `${count(rpm)} ${rpm === "1" ? "request" : "requests"} per minute`,
    tpm === null ? "" : `${count(tpm)} ${tpm === "1" ? "token" : "tokens"} per minute`,
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
  flags: {
    account: { about: "only the keys of this account", value: "ID" },
    wide: { about: "show ids, limits, models and creators too" },
  },
  examples: ["svc key list", "svc key list --wide", "svc key list --account default --json"],
  async load(operations, { flags: { account } }) {
    const [keys, accounts] = await Promise.all([
      operations.keys.list(defined({ account })),
      operations.accounts.list({}),
    ]);
    const names = new Map(accounts.map(({ id, name }) => [id, name]));
    return keys.map((key) => ({ ...key, account_name: names.get(key.account) ?? key.account }));
  },
  show(keys, { switches }) {
    printKeys(keys, switches.has("wide"));
  },
});

/** A key's id, or a name that only one key has; keys that are not revoked come first. */
async function findKeyId(operations: Operations, idOrName: string): Promise<string> {
  if (idOrName.startsWith("key_")) return idOrName;
  const named = (await operations.keys.list({})).filter(({ name }) => name === idOrName);
  const live = named.filter(({ status }) => status !== "revoked");
  const [only, ...others] = live.length > 0 ? live : named;
  if (only === undefined)
    throw new Problem({
      code: "not_found",
      message: `Unknown key "${idOrName}".`,
      command: "key list",
    });
  if (others.length > 0)
    throw new Problem({
      code: "invalid",
      message: `${others.length + 1} keys are named "${idOrName}". Use the id of one of them.`,
      command: "key list --wide",
    });
  return only.id;
}

type KeyCommand<T> = Omit<Parameters<typeof viewCommand<T>>[0], "load" | "positionals"> & {
  readonly change: (operations: Operations, id: string, invocation: Invocation) => Promise<T>;
};

/** Changes the key that the argument names. */
const keyCommand = <T>({ change, ...rest }: KeyCommand<T>) =>
  viewCommand<T>({
    ...rest,
    positionals: ["KEY"],
    load: async (operations, invocation) =>
      change(operations, await findKeyId(operations, invocation.positionals[0] ?? ""), invocation),
  });

const keyPause = keyCommand({
  name: "key pause",
  about: "Pause a key immediately. Its calls are rejected until it is resumed.",
  examples: ["svc key pause laptop", "svc key pause key_0199…"],
  change: (operations, id) => operations.keys.pause({ id }),
  show(key) {
    print(`${style.green("paused")} ${keyText(key)}`);
  },
});

const keyResume = keyCommand({
  name: "key resume",
  about: "Resume a paused key immediately.",
  examples: ["svc key resume laptop", "svc key resume key_0199…"],
  change: (operations, id) => operations.keys.resume({ id }),
  show(key) {
    print(`${style.green("resumed")} ${keyText(key)}`);
  },
});

const keyText = ({ id, hint }: KeyView) => `${id} ${hint}`;

const keyRevoke = keyCommand({
  name: "key revoke",
  about: "Revoke a key immediately and permanently.",
  examples: ["svc key revoke laptop", "svc key revoke key_0199…"],
  change: (operations, id) => operations.keys.revoke({ id }),
  show(key) {
    print(`${style.green("revoked")} ${keyText(key)}`);
  },
});

const keyLimit = keyCommand({
  name: "key limit",
  needsChange: true,
  about: "Set the limits of a key. Omitted limits stay unchanged.",
  flags: limitFlags,
  examples: [
    "svc key limit key_0199… --rpm 60 --tpm 100000",
    "svc key limit key_0199… --budget 12.50/month",
    "svc key limit key_0199… --rpm none",
  ],
  change: (operations, id, { flags }) =>
    operations.keys.setLimits({ id, ...readLimitFlags({ flags }) }),
  show(key) {
    print(`${style.green("set")} ${keyText(key)}: ${limitsText(key.limits) ?? "no limits"}`);
  },
});

const keyRotate = keyCommand({
  name: "key rotate",
  about:
    "Replace the secret of a key. The new one is shown only once; the old one works until the overlap ends.",
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
  change: (operations, id, { flags: { overlap } }) =>
    operations.keys.rotate({ id, ...defined({ overlap }) }),
  show(rotated) {
    printSecret("rotated", rotated);
    const { previous } = rotated;
    if (previous === null) print("The previous secret no longer works.");
    else print(`The previous secret (${previous.hint}) works until ${previous.expires_at}.`);
  },
});

const keyUpdate = keyCommand({
  name: "key update",
  needsChange: true,
  about: "Change the name of a key, the models it may call or when it expires.",
  flags: {
    name: { about: "name of the key", value: "NAME" },
    models: { about: "models it may call, separated by commas, or all", value: "A,B" },
    expires: { about: "date or time when it expires, or never", value: "DATE" },
  },
  examples: [
    "svc key update key_0199… --name laptop",
    "svc key update laptop --models svc-3-flash,svc-embedding-2",
    "svc key update laptop --models all",
    "svc key update laptop --expires 2027-01-31",
    "svc key update laptop --expires never",
  ],
  change(operations, id, { flags: { name, models, expires } }) {
    const list = models === "all" ? null : models?.split(",").map((one) => one.trim());
    return operations.keys.update({ id, ...defined({ name, models: list, expires }) });
  },
  show(key) {
    const facts = [
      key.name || "no name",
      key.models === null ? "all models" : key.models.join(", "),
      key.expires_at === null ? "never expires" : `expires ${key.expires_at}`,
    ];
    print(`${style.green("set")} ${keyText(key)}: ${facts.join(", ")}`);
    printWarnings(key.warnings);
  },
});

export const keyCommands: readonly Command[] = [
  keyCreate,
  keyList,
  keyPause,
  keyResume,
  keyRevoke,
  keyLimit,
  keyRotate,
  keyUpdate,
];

/** Fits in 100 columns, unless all is asked for. */
const narrow = { name: 20, account: 16, models: 8 };

export function printKeys(
  keys: readonly (KeyView & { readonly account_name?: string })[],
  isWide = false,
): void {
  if (keys.length === 0) return printHint("No keys yet. Create one: svc key create --account ID");
  const nowMs = Date.now();
  const cut = (text: string, of: keyof typeof narrow) =>
    isWide ? text : cutText(text, narrow[of]);
  printTable(
    [
      "name",
      "key",
      "account",
      "state",
      "models",
      "expires",
      "last used",
      ...(isWide ? ["created by", "limits", "id"] : []),
    ],
    keys.map((key) => [
      key.name === "" ? null : cut(key.name, "name"),
      key.hint,
      cut(key.account_name ?? key.account, "account"),
      key.status,
      cut(modelsText(key, isWide), "models"),
      (isWide ? key.expires_at : key.expires_at?.slice(0, 10)) ?? null,
      lastUsedText(key, nowMs),
      ...(isWide ? [key.created_by, limitsText(key.limits) ?? null, key.id] : []),
    ]),
  );
}

function modelsText({ models }: KeyView, isWide: boolean): string {
  if (models === null) return "all";
  const [only] = models;
  return isWide || (models.length === 1 && only !== undefined)
    ? models.join(",")
    : `${models.length} models`;
}

/** A key counts as used even if all its calls were rejected. */
function lastUsedText(
  { last_used_at: usedAt, last_rejected_at: rejectedAt }: KeyView,
  nowMs: number,
): string {
  if (usedAt !== null) return agoText(usedAt, nowMs);
  return rejectedAt === null ? "never" : `rejected ${agoText(rejectedAt, nowMs)}`;
}
