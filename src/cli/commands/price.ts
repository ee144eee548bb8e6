import { defined } from "../../base/defined.ts";
import type { PriceTexts } from "../../platform/prices/operations.ts";
import type { ImportView, PriceRow } from "../../platform/prices/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printTable, style } from "../terminal/output.ts";

const priceFlags = {
  input: { about: "a million input tokens", value: "USD" },
  "cached-input": { about: "a million input tokens read from a cache", value: "USD" },
  "cache-write": { about: "a million input tokens written to a cache", value: "USD" },
  output: { about: "a million output tokens", value: "USD" },
  "audio-output": { about: "a million tokens of speech", value: "USD" },
  image: { about: "an image", value: "USD" },
  "video-second": { about: "a second of video", value: "USD" },
} as const;

const priceSet = viewCommand({
  name: "price set",
  about:
    "Gives a model a new price, now or from a day on. Name every class it is billed by; calls under way keep theirs.",
  positionals: ["MODEL"],
  flags: {
    ...priceFlags,
    from: { about: "from when it holds; now unless told", value: "DATE" },
  },
  examples: [
    "svc price set svc-3-flash --input 0.30 --cached-input 0.03 --output 2.50",
    "svc price set svc-3-flash --input 0.25 --output 2 --from 2027-01-01",
    "svc price set multimodal-embedding-1 --image 0.0001 --video-second 0.0005",
  ],
  load(operations, { positionals: [model = ""], flags }) {
    const price: PriceTexts = Object.fromEntries(
      Object.keys(priceFlags).flatMap((flag) => {
        const text = flags[flag];
        return text === undefined ? [] : [[flag.replaceAll("-", "_"), text]];
      }),
    );
    const { from } = flags;
    return operations.prices.set({ model, price, ...defined({ from }) });
  },
  show(row) {
    const when = row.in_force ? "in force now" : `in force from ${row.effective_at}`;
    print(`${style.green("priced")} ${row.model}: ${priceText(row)}`);
    print(style.dim(`version ${row.version}, ${when}`));
  },
});

const priceRemove = viewCommand({
  name: "price remove",
  about: "Removes a model's price. The model is not served until it has a price again.",
  positionals: ["MODEL"],
  examples: ["svc price remove svc-3-flash"],
  load: (operations, { positionals: [model = ""] }) => operations.prices.remove({ model }),
  show: ({ model }) =>
    print(`${style.green("removed")} the price of ${model}. It is not served any more.`),
});

const priceList = viewCommand({
  name: "price list",
  about: "Lists prices: in force now with what comes later, in force at a date, or all versions.",
  optional: ["MODEL"],
  flags: {
    at: { about: "what is in force at this day or moment", value: "DATE" },
    history: { about: "every version there ever was" },
  },
  examples: [
    "svc price list",
    "svc price list svc-3-flash --history",
    "svc price list --at 2027-01-01 --json",
  ],
  load: (operations, { positionals: [model], flags: { at }, switches }) =>
    operations.prices.list({
      ...defined({ model, at }),
      history: switches.has("history"),
    }),
  show(rows) {
    if (rows.length === 0) return print("No models yet, so no prices: see svc model list");
    print(style.dim("USD: a million tokens, an image, a second of video"));
    printTable(
      ["model", "version", "price", "from", "state"],
      rows.map((row) => [row.model, row.version, priceText(row), fromOf(row), stateOf(row)]),
    );
  },
});

const priceImport = viewCommand({
  name: "price import",
  about:
    "Takes vendors' public list prices over: costs for routes that have none, and prices for models that have none.",
  variadic: "MODEL",
  flags: {
    markup: { about: "percent on top for the models' prices, such as 20", value: "PERCENT" },
    replace: { about: "also where there is a price or a cost already" },
    "dry-run": { about: "show what would be set and set nothing" },
  },
  examples: [
    "svc price import --dry-run",
    "svc price import --markup 20",
    "svc price import gpt-4o-mini --markup 12.5 --replace",
  ],
  load: (operations, { positionals: models, flags: { markup }, switches }) =>
    operations.prices.import({
      models,
      ...defined({ markup }),
      dryRun: switches.has("dry-run"),
      replace: switches.has("replace"),
    }),
  show: (view, { switches }) => printImport(view, switches.has("dry-run")),
});

export const priceCommands: readonly Command[] = [priceSet, priceRemove, priceList, priceImport];

function priceText({ price }: Pick<PriceRow, "price">): string | null {
  return price === null ? null : pairsText(price);
}

const pairsText = (price: Readonly<Record<string, string>>) =>
  Object.entries(price)
    .map(([key, usd]) => `${key} ${usd}`)
    .join(", ");

const fromOf = ({ version, effective_at }: PriceRow) =>
  version === null ? null : (effective_at ?? "the start");

function stateOf({ version, price, in_force, effective_at }: PriceRow): string {
  if (in_force) return "in force";
  if (version === null) return "not served";
  if (price === null) return "taken away";
  return effective_at !== null && Date.parse(effective_at) > Date.now() ? "ahead" : "replaced";
}

function printImport({ set, left, unknown, notes, applied }: ImportView, dryRun: boolean): void {
  const nameOf = ({ model, route }: { readonly model: string; readonly route: string | null }) =>
    route === null ? `price of ${model}` : `cost of ${model} by ${route}`;
  for (const row of set)
    print(
      `${style.green("+")} ${nameOf(row)}: ${pairsText(row.price)} ${style.dim(`(${row.source})`)}`,
    );
  for (const row of left) print(`${style.dim("=")} ${nameOf(row)}: ${row.reason}`);
  for (const row of unknown) print(`${style.yellow("?")} ${nameOf(row)}: ${row.reason}`);
  for (const row of notes) print(`${style.yellow("!")} ${row.model} by ${row.route}: ${row.note}`);
  if (set.length === 0) return print("Nothing to set.");
  if (dryRun) return print(`${set.length} to set; nothing was changed (--dry-run).`);
  if (!applied) return;
  print(
    `${style.green("set")} ${set.length}. Public list prices: check them against your contracts.`,
  );
  print(
    style.dim("An apply of svc.yaml brings its own prices back: svc export writes these for it."),
  );
}
