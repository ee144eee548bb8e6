import { defined } from "../../../base/defined.ts";
import { Problem } from "../../../base/problem.ts";
import type { KeyView } from "../../../platform/providers/schemas.ts";
import { type Command, type Invocation, jsonFlag, viewCommand } from "../../command.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, printTable, style } from "../../terminal/output.ts";
import { askSecret } from "../../terminal/prompts.ts";
import { keyFlags, newKey, noTestFlag, printSaved, saveTested } from "./change.ts";
import { secretText, statusText } from "./words.ts";

const keyList = viewCommand({
  name: "provider key list",
  about: "List the keys of a provider: where each is stored, its weight and its state.",
  positionals: ["PROVIDER"],
  examples: ["svc provider key list groq", "svc provider key list groq --json"],
  async load(operations, { positionals: [name = ""] }) {
    const found = (await operations.providers.list({})).find((one) => one.name === name);
    if (found !== undefined) return found.keys;
    throw new Problem({
      code: "not_found",
      message: `Unknown provider "${name}".`,
      command: "provider list",
    });
  },
  show(keys: readonly KeyView[], { positionals: [name = ""] }) {
    if (keys.length === 0) return print(`${name} has no key.`);
    printTable(
      ["name", "state", "weight", "key"],
      keys.map((key) => [key.name, keyStateText(key), String(key.weight), secretText(key.secret)]),
    );
  },
});

/** Models that fail with a key that works are not hidden behind it. */
function keyStateText({ status, models, failing_models: failing }: KeyView): string {
  if (failing === 0 || status === "failing" || status === "paused") return statusText(status);
  return `${statusText(status)}, ${style.red(`${failing} of ${models} models failing`)}`;
}

const keyAdd: Command = {
  name: "provider key add",
  about:
    "Add a key to a provider. It is tested with one small call before it is saved. Calls are spread over all keys by weight.",
  positionals: ["PROVIDER", "KEY-NAME"],
  flags: {
    ...keyFlags,
    weight: { about: "share of the calls (default: 1)", value: "N" },
    ...noTestFlag,
    ...jsonFlag,
  },
  examples: [
    "svc provider key add openai second --key-stdin < key.txt",
    "svc provider key add openai second --key-env OPENAI_KEY_2 --weight 3",
  ],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { positionals, wiring } = invocation;
      const [provider = "", name = ""] = positionals;
      const given = await newKey(invocation, signal);
      if (given === null || (given === undefined && !process.stdin.isTTY)) throw withoutKey();
      const key =
        given ?? (await askSecret(`API key ${name} for ${provider} (stored encrypted)`, signal));
      const weight = readWeight(invocation);
      const saved = await saveTested({ invocation, signal }, (test) =>
        wiring.withOperations((operations) =>
          operations.providers.addKey({
            provider,
            name,
            api_key: key,
            ...test,
            ...defined({ weight }),
          }),
        ),
      );
      printSaved(invocation, saved, `added key ${name} to`);
    }),
};

const keyUpdate: Command = {
  name: "provider key update",
  needsChange: true,
  about: "Replace, rename, weight, pause or resume one key of a provider.",
  positionals: ["PROVIDER", "KEY-NAME"],
  flags: {
    ...keyFlags,
    weight: { about: "share of the calls", value: "N" },
    rename: { about: "new name of the key", value: "NAME" },
    pause: { about: "do not use the key until it is resumed" },
    resume: { about: "use the key again" },
    ...noTestFlag,
    ...jsonFlag,
  },
  examples: [
    "svc provider key update openai second --weight 2",
    "svc provider key update openai second --key-stdin < key.txt",
    "svc provider key update openai second --pause",
  ],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { positionals, flags, switches, wiring } = invocation;
      const [provider = "", key = ""] = positionals;
      if (switches.has("pause") && switches.has("resume"))
        throw new Problem({
          code: "invalid",
          message: "Use either --pause or --resume.",
          field: "paused",
        });
      const secret = (await newKey(invocation, signal)) ?? undefined;
      const isPauseSet = switches.has("pause") || switches.has("resume");
      const saved = await saveTested({ invocation, signal }, (test) =>
        wiring.withOperations((operations) =>
          operations.providers.updateKey({
            provider,
            key,
            ...test,
            ...defined({
              api_key: secret,
              name: flags["rename"],
              weight: readWeight(invocation),
              paused: isPauseSet ? switches.has("pause") : undefined,
            }),
          }),
        ),
      );
      // Nothing that a test could say more about.
      if (secret === undefined && !switches.has("json"))
        return print(`${style.green("changed")} key ${key} of ${provider}`);
      printSaved(invocation, saved, `changed key ${key} of`);
    }),
};

const keyRemove: Command = {
  name: "provider key remove",
  about: "Remove one key of a provider. Its other keys and all routes stay.",
  positionals: ["PROVIDER", "KEY-NAME"],
  flags: jsonFlag,
  examples: ["svc provider key remove openai second"],
  async run(invocation) {
    const { positionals, wiring } = invocation;
    const [provider = "", key = ""] = positionals;
    const saved = await wiring.withOperations((operations) =>
      operations.providers.removeKey({ provider, key }),
    );
    if (invocation.switches.has("json")) return printSaved(invocation, saved, "");
    print(`${style.green("removed")} key ${key} of ${provider}`);
  },
};

const withoutKey = () =>
  new Problem({
    code: "invalid",
    message: "The key is missing. Use --key-env NAME, or --key-stdin < FILE.",
    field: "key_stdin",
  });

function readWeight({ flags: { weight } }: Invocation): number | undefined {
  if (weight === undefined) return undefined;
  if (/^\d{1,7}$/.test(weight) && Number(weight) <= 1_000_000) return Number(weight);
  throw new Problem({
    code: "invalid",
    message: `Weight must be a whole number from 0 to 1000000, not "${weight}".`,
    field: "weight",
  });
}

export const providerKeyCommands: readonly Command[] = [keyList, keyAdd, keyUpdate, keyRemove];
