import { Problem } from "../../../base/problem.ts";
import { providerKinds, type UsableKind } from "../../../catalog/provider-kinds.ts";
import type { SavedProvider } from "../../../platform/providers/check.ts";
import { type Command, type Invocation, jsonFlag } from "../../command.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, printHint, printJson, style } from "../../terminal/output.ts";
import { askSecret, askYes, isInteractive } from "../../terminal/prompts.ts";
import { printWarnings, withoutFile } from "../manifest.ts";

export const keyFlags = {
  "key-env": { about: "environment variable that contains the key", value: "NAME" },
  "key-stdin": { about: "read the key from standard input and store it encrypted" },
} as const;
export const noTestFlag = {
  "no-test": { about: "save without a test call, for a server that is down", isNoChange: true },
} as const;

const providerUpdate: Command = {
  name: "provider update",
  needsChange: true,
  about:
    "Change the key, address or options of a provider. The change is tested with one small call before it is saved. Omitted fields and all routes stay unchanged.",
  positionals: ["NAME"],
  flags: {
    kind: {
      about: `protocol: ${providerKinds.join(", ")}`,
      value: "KIND",
      choices: providerKinds,
    },
    "base-url": { about: "address of the API (default: the vendor's)", value: "URL" },
    ...keyFlags,
    "remove-key": { about: "remove the key" },
    "allow-private": { about: "allow a private or loopback address" },
    "refuse-private": { about: "reject a private or loopback address" },
    option: {
      about: "option for its kind; name= removes it",
      value: "name=value",
      multiple: true,
    },
    ...noTestFlag,
    ...jsonFlag,
  },
  examples: [
    "svc provider update groq --key-stdin < key.txt",
    "svc provider update groq --key-env GROQ_API_KEY",
    "svc provider update mine --base-url http://10.0.0.6:8000/v1 --no-test",
    "svc provider update bedrock --option region=eu-west-1",
  ],
  run: (invocation) => interruptible((signal) => update(invocation, signal)),
};

async function update(invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { positionals, flags, switches, lists, wiring } = invocation;
  const [name = ""] = positionals;
  const isAllowed = switches.has("allow-private");
  if (isAllowed && switches.has("refuse-private"))
    throw new Problem({
      code: "invalid",
      message: "Use either --allow-private or --refuse-private.",
      field: "allow_private",
    });
  const options = (lists["option"] ?? []).map(readPair);
  const isPrivacySet = isAllowed || switches.has("refuse-private");
  const key = await newKey(invocation, signal);
  const saved = await saveTested({ invocation, signal }, (test) =>
    wiring.withOperations((operations) =>
      operations.providers.update({
        name,
        // The operation rejects an unknown kind.
        kind: flags["kind"] as UsableKind | undefined,
        base_url: flags["base-url"],
        ...(key === undefined ? {} : { api_key: key }),
        ...(isPrivacySet ? { allow_private: isAllowed } : {}),
        ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }),
        ...test,
      }),
    ),
  );
  printSaved(invocation, saved, "changed");
}

interface TestWish {
  readonly skip_test?: true;
  /** The test has failed, and it is to be saved as failing. */
  readonly save_anyway?: true;
}

/** Where the test fails, a person is asked whether to save it anyway; others see the flag. */
export async function saveTested<T>(
  {
    invocation,
    signal,
  }: {
    readonly invocation: Invocation;
    readonly signal: AbortSignal;
  },
  save: (test: TestWish) => Promise<T>,
): Promise<T> {
  try {
    return await save(invocation.switches.has("no-test") ? { skip_test: true } : {});
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "test_failed") throw error;
    const failed = `The test call failed. ${error.message}`;
    if (!isInteractive(invocation))
      throw error.reworded(`${failed}\nNothing was changed. To save it anyway, use --no-test.`);
    print(`${style.yellow("!")} ${failed}`);
    if (await askYes({ question: "Save anyway?", offered: false, signal }))
      return save({ save_anyway: true });
    throw new Problem({ code: "failed", message: "Nothing was changed." });
  }
}

function readPair(text: string): readonly [string, string | null] {
  const at = text.indexOf("=");
  if (at < 1)
    throw new Problem({
      code: "invalid",
      message: "Expected name=value.",
      field: "options",
    });
  const value = text.slice(at + 1);
  return [text.slice(0, at), value === "" ? null : value];
}

/** From the flags, or asked for where --key-stdin is used in a terminal; null removes it. */
export async function newKey(
  invocation: Invocation,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  const { flags, switches, positionals } = invocation;
  const variable = flags["key-env"];
  const given = [variable !== undefined, switches.has("key-stdin"), switches.has("remove-key")];
  if (given.filter(Boolean).length > 1)
    throw new Problem({
      code: "invalid",
      message: "Use only one of --key-env, --key-stdin and --remove-key.",
      field: "key_env",
    });
  if (switches.has("remove-key")) return null;
  if (variable !== undefined) return toReference(variable);
  if (!switches.has("key-stdin")) return undefined;
  if (!process.stdin.isTTY) return readKey(await Bun.stdin.text());
  return readKey(await askSecret(`API key for ${positionals[0]} (stored encrypted)`, signal));
}

export function toReference(variable: string): string {
  if (/^[A-Za-z_]\w*$/.test(variable)) return `\${${variable}}`;
  throw new Problem({
    code: "invalid",
    message: "Expected the name of an environment variable, not the key itself.",
    field: "key_env",
  });
}

/** Checked before it is sent, so that a whole file is not taken for a key. */
export function readKey(text: string): string {
  const key = text.trim();
  if (key === "")
    throw new Problem({ code: "invalid", message: "The key is empty.", field: "key_stdin" });
  // A header cannot carry it. Most often it has more than one line.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Problem({
      code: "invalid",
      message: "The key must be one line without spaces.",
      field: "key_stdin",
    });
  return key;
}

export function printSaved({ switches }: Invocation, saved: SavedProvider, verb: string): void {
  const { name, warnings, isTested } = saved;
  if (switches.has("json"))
    return printJson({
      name,
      tested: isTested,
      warnings: warnings.map(({ message }) => message),
    });
  printWarnings(warnings);
  print(`${style.green(verb)} ${name}${isTested ? ", test call passed" : ""}`);
  if (!isTested) printHint(style.dim(`svc provider test ${name} makes one call of each type.`));
}

const providerRemove: Command = {
  name: "provider remove",
  about: "Remove a provider and all routes to it. Models stay.",
  positionals: ["NAME"],
  flags: {
    yes: { about: "confirm the removal, even if some models will no longer be served" },
    "dry-run": { about: "show the changes without making them" },
    ...jsonFlag,
  },
  examples: ["svc provider remove groq --dry-run", "svc provider remove groq --yes"],
  async run(invocation) {
    const { positionals, switches, wiring } = invocation;
    const [name = ""] = positionals;
    const dryRun = switches.has("dry-run");
    const { routes, emptied, unserved } = await wiring.withOperations(async (operations) => {
      const planned = await operations.providers.remove({ name, dryRun: true });
      const models = await operations.models.list({});
      const isEmptied = ({ id, served }: (typeof models)[number]) =>
        served && planned.emptied.includes(id);
      return { ...planned, unserved: models.filter(isEmptied).map(({ id }) => id) };
    });
    if (unserved.length > 0 && !dryRun && !switches.has("yes"))
      await confirmRemoval({ name, unserved, invocation });
    if (!dryRun)
      await wiring.withOperations((operations) =>
        operations.providers.remove({ name, emptiesModels: true }),
      );
    if (switches.has("json"))
      return printJson({
        provider: name,
        ...withoutFile,
        routes,
        emptied,
        unserved,
        differences: [{ action: "remove", kind: "provider", name, fields: [] }],
        warnings: emptied.map(
          (id) => `model ${id} has no route: it is not listed and cannot be called`,
        ),
        applied: !dryRun,
      });
    print(`${style.red("-")} provider ${name} and ${routes} route${routes === 1 ? "" : "s"} to it`);
    for (const id of emptied)
      print(`${style.yellow("!")} model ${id} has no routes left and is not served`);
    print(dryRun ? "Nothing was changed (--dry-run)." : `${style.green("removed")} ${name}`);
  },
};

async function confirmRemoval(options: {
  readonly name: string;
  readonly unserved: readonly string[];
  readonly invocation: Invocation;
}): Promise<void> {
  const { name, unserved, invocation } = options;
  const what = `Only ${name} serves ${unserved.join(", ")}.`;
  if (!isInteractive(invocation))
    throw new Problem({
      code: "conflict",
      message: `${what} Add another route first, or confirm with --yes. Nothing was changed.`,
      field: "yes",
    });
  const isMeant = await interruptible((signal) =>
    askYes({ question: `${what} Remove it?`, offered: false, signal }),
  );
  if (!isMeant) throw new Problem({ code: "failed", message: "Nothing was changed." });
}

const setPaused = (paused: boolean): Command => ({
  name: paused ? "provider pause" : "provider resume",
  about: paused
    ? "Skip all routes to a provider until it is resumed. Nothing is removed."
    : "Use the routes to a paused provider again.",
  positionals: ["NAME"],
  flags: jsonFlag,
  examples: [`svc provider ${paused ? "pause" : "resume"} groq`],
  async run({ positionals: [name = ""], switches, wiring }) {
    const saved = await wiring.withOperations((operations) =>
      operations.providers.update({ name, paused }),
    );
    if (switches.has("json")) return printJson({ name: saved.name, paused });
    print(`${style.green(paused ? "paused" : "resumed")} ${name}`);
  },
});

export const providerChangeCommands: readonly Command[] = [
  providerUpdate,
  setPaused(true),
  setPaused(false),
  providerRemove,
];
