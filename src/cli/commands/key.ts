import type { KeyView, NewKeyView } from "../../platform/keys/schemas.ts";
import { type Command, jsonFlag } from "../command.ts";
import { print, printJson, printTable, style } from "../terminal/output.ts";
import { limitFlags, limitsText, readLimitFlags } from "./limit-flags.ts";

const keyCreate: Command = {
  name: "key create",
  about: "Creates an API key and shows it, this once.",
  flags: {
    account: { about: "id or name of the account that pays", value: "ID", required: true },
    name: { about: "a name to know it by", value: "NAME" },
    models: { about: "the only models it may call (default: all)", value: "A,B" },
    expires: { about: "the day or moment from which it no longer works", value: "DATE" },
    ...limitFlags,
    ...jsonFlag,
  },
  examples: [
    "svc key create --account default --name laptop",
    "svc key create --account acme --models svc-3-flash,svc-embedding-2 --expires 2027-01-31",
    "svc key create --account acme --name ci --rpm 60 --budget 5/day",
    "svc key create --account default --json | jq -r .key",
  ],
  async run({ flags, switches, wiring }) {
    const { account = "", name, models, expires } = flags;
    const created = await wiring.withOperations((operations) =>
      operations.keys.create({
        account,
        ...(name === undefined ? {} : { name }),
        ...(models === undefined ? {} : { models: models.split(",").map((id) => id.trim()) }),
        ...(expires === undefined ? {} : { expires }),
        ...readLimitFlags({ flags }),
      }),
    );
    if (switches.has("json")) return printJson(created);
    printSecret("created", created);
  },
};

function printSecret(what: string, { id, key, warnings }: NewKeyView): void {
  print(`${style.green(what)} key ${style.dim(id)}\n\n  ${style.bold(key)}\n`);
  print("It is shown this once: keep it now.");
  printWarnings(warnings);
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) print(`${style.yellow("!")} ${warning}`);
}

const keyList: Command = {
  name: "key list",
  about: "Lists keys, without their secrets.",
  flags: { account: { about: "only keys of this account", value: "ID" }, ...jsonFlag },
  examples: ["svc key list", "svc key list --account default --json"],
  async run({ flags: { account }, switches, wiring }) {
    const keys = await wiring.withOperations((operations) =>
      operations.keys.list(account === undefined ? {} : { account }),
    );
    if (switches.has("json")) return printJson(keys);
    printKeys(keys);
  },
};

const keyRevoke: Command = {
  name: "key revoke",
  about: "Revokes a key, at once and for good.",
  positionals: ["ID"],
  flags: jsonFlag,
  examples: ["svc key revoke key_0199…"],
  async run({ positionals: [id = ""], switches, wiring }) {
    const key = await wiring.withOperations((operations) => operations.keys.revoke({ id }));
    if (switches.has("json")) return printJson(key);
    print(`${style.green("revoked")} ${key.id} ${key.hint}`);
  },
};

const keyLimit: Command = {
  name: "key limit",
  about: "Limits what a key may use. What is not named stays as it is.",
  positionals: ["ID"],
  flags: { ...limitFlags, ...jsonFlag },
  examples: [
    "svc key limit key_0199… --rpm 60 --tpm 100000",
    "svc key limit key_0199… --budget 12.50/month",
    "svc key limit key_0199… --rpm none",
  ],
  async run({ positionals: [id = ""], flags, switches, wiring }) {
    const key = await wiring.withOperations((operations) =>
      operations.keys.setLimits({ id, ...readLimitFlags({ flags }) }),
    );
    if (switches.has("json")) return printJson(key);
    print(`${style.green("set")} ${key.id} ${key.hint}: ${limitsText(key.limits) ?? "no limits"}`);
  },
};

const keyRotate: Command = {
  name: "key rotate",
  about:
    "Gives a key a new secret and shows it, this once. The old one works until the overlap ends.",
  positionals: ["ID"],
  flags: {
    overlap: {
      about: "how long the old secret still works: 30m, 24h, 7d; 0: no longer (default: 24h)",
      value: "TIME",
    },
    ...jsonFlag,
  },
  examples: [
    "svc key rotate key_0199…",
    "svc key rotate key_0199… --overlap 7d",
    "svc key rotate key_0199… --overlap 0 --json | jq -r .key",
  ],
  async run({ positionals: [id = ""], flags: { overlap }, switches, wiring }) {
    const rotated = await wiring.withOperations((operations) =>
      operations.keys.rotate({ id, ...(overlap === undefined ? {} : { overlap }) }),
    );
    if (switches.has("json")) return printJson(rotated);
    printSecret("rotated", rotated);
    const { previous } = rotated;
    if (previous === null) print("The secret before it no longer works.");
    else print(`The secret before it (${previous.hint}) works until ${previous.expires_at}.`);
  },
};

const keyUpdate: Command = {
  name: "key update",
  about: "Changes the name of a key, or the models that it may call, at once.",
  positionals: ["ID"],
  flags: {
    name: { about: "a name to know it by", value: "NAME" },
    models: { about: "the only models it may call; all: every one", value: "A,B" },
    ...jsonFlag,
  },
  examples: [
    "svc key update key_0199… --name laptop",
    "svc key update key_0199… --models svc-3-flash,svc-embedding-2",
    "svc key update key_0199… --models all",
  ],
  async run({ positionals: [id = ""], flags: { name, models }, switches, wiring }) {
    const list = models === "all" ? null : models?.split(",").map((one) => one.trim());
    const key = await wiring.withOperations((operations) =>
      operations.keys.update({
        id,
        ...(name === undefined ? {} : { name }),
        ...(list === undefined ? {} : { models: list }),
      }),
    );
    if (switches.has("json")) return printJson(key);
    const allowed = key.models === null ? "every model" : key.models.join(", ");
    print(`${style.green("set")} ${key.id} ${key.hint}: ${key.name || "no name"}, ${allowed}`);
    printWarnings(key.warnings);
  },
};

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
