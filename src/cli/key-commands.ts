import type { KeyView } from "../platform/views.ts";
import { type Command, jsonFlag } from "./command.ts";
import { limitFlags, limitsText, readLimitFlags } from "./limit-flags.ts";
import { print, printJson, printTable, style } from "./output.ts";

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
      operations.createKey({
        account,
        ...(name === undefined ? {} : { name }),
        ...(models === undefined ? {} : { models: models.split(",").map((id) => id.trim()) }),
        ...(expires === undefined ? {} : { expires }),
        ...readLimitFlags({ flags }),
      }),
    );
    if (switches.has("json")) return printJson(created);
    print(
      `${style.green("created")} key ${style.dim(created.id)}\n\n  ${style.bold(created.key)}\n`,
    );
    print("It is shown this once: keep it now.");
    for (const warning of created.warnings) print(`${style.yellow("!")} ${warning}`);
  },
};

const keyList: Command = {
  name: "key list",
  about: "Lists keys, without their secrets.",
  flags: { account: { about: "only keys of this account", value: "ID" }, ...jsonFlag },
  examples: ["svc key list", "svc key list --account default --json"],
  async run({ flags: { account }, switches, wiring }) {
    const keys = await wiring.withOperations((operations) =>
      operations.listKeys(account === undefined ? {} : { account }),
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
    const key = await wiring.withOperations((operations) => operations.revokeKey({ id }));
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
      operations.setKeyLimits({ id, ...readLimitFlags({ flags }) }),
    );
    if (switches.has("json")) return printJson(key);
    print(`${style.green("set")} ${key.id} ${key.hint}: ${limitsText(key.limits) ?? "no limits"}`);
  },
};

export const keyCommands: readonly Command[] = [keyCreate, keyList, keyRevoke, keyLimit];

export function printKeys(keys: readonly KeyView[]): void {
  if (keys.length === 0) return print("No keys yet. Create one: ./svc key create --account ID");
  printTable(
    ["id", "key", "name", "account", "state", "models", "expires", "limits"],
    keys.map(({ id, hint, name, account, status, models, expires_at, limits }) => [
      id,
      hint,
      name || null,
      account,
      status,
      models === null ? "all" : models.join(","),
      expires_at,
      limitsText(limits) ?? null,
    ]),
  );
}
