import { defined } from "../../base/defined.ts";
import { Problem } from "../../base/problem.ts";
import type { PriceTexts } from "../../platform/prices/read-price.ts";
import type { BulkView, ImportView, PriceRow } from "../../platform/prices/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";

const priceFlags = {
  input: { about: "price per million input tokens", value: "USD" },
  "cached-input": { about: "price per million input tokens read from a cache", value: "USD" },
  "cache-write": { about: "price per million input tokens written to a cache", value: "USD" },
  output: { about: "price per million output tokens", value: "USD" },
  "audio-output": { about: "price per million audio output tokens", value: "USD" },
  image: { about: "price per image", value: "USD" },
  "video-second": { about: "price per second of video", value: "USD" },
  "audio-second": { about: "price per second of audio", value: "USD" },
} as const;

const priceSet = viewCommand({
  name: "price set",
  about:
    "Set the price of one or more models, now or from a date. Include every class the models are billed for, and set models of different endpoints separately. Calls in flight keep their price.",
  positionals: ["MODEL"],
  variadic: "MODEL",
  flags: {
    ...priceFlags,
    markup: { about: "instead: list price plus this percentage, such as 20", value: "PERCENT" },
    free: { about: "instead: no charge" },
    from: { about: "start date or time (default: now)", value: "DATE" },
    "dry-run": { about: "show the changes without making them" },
  },
  examples: [
    "svc price set svc-3-flash --input 0.30 --cached-input 0.03 --output 2.50",
    "svc price set svc-3-flash --input 0.25 --output 2 --from 2027-01-01",
    "svc price set multimodal-embedding-1 --image 0.0001 --video-second 0.0005",
    "svc price set gpt-4o gpt-4o-mini --markup 20 --dry-run",
    "svc price set llama qwen --free",
  ],
  load(operations, { positionals: models, flags, switches }): Promise<PriceRow | BulkView> {
    const price: PriceTexts = Object.fromEntries(
      Object.keys(priceFlags).flatMap((flag) => {
        const text = flags[flag];
        return text === undefined ? [] : [[flag.replaceAll("-", "_"), text]];
      }),
    );
    const { from, markup } = flags;
    const [free, dryRun] = [switches.has("free"), switches.has("dry-run")];
    const [model = ""] = models;
    const isOther = markup !== undefined || free;
    if (models.length === 1 && !isOther && !dryRun)
      return operations.prices.set({ model, price, ...defined({ from }) });
    const isPriced = Object.keys(price).length > 0;
    if ([isPriced, markup !== undefined, free].filter(Boolean).length !== 1)
      throw new Problem({
        code: "invalid",
        message: "Set prices such as --input and --output, or --markup, or --free.",
      });
    return operations.prices.setMany({
      models,
      ...(isPriced ? { price } : {}),
      ...(free ? { free } : {}),
      ...defined({ markup, from }),
      dry_run: dryRun,
    });
  },
  show(row) {
    if ("changes" in row) return printBulk(row);
    const when = row.in_force ? "active" : `active from ${row.effective_at}`;
    print(`${style.green("priced")} ${row.model}: ${priceText(row)}`);
    print(style.dim(`version ${row.version}, ${when}`));
  },
});

function printBulk({ changes, skipped, applied }: BulkView): void {
  for (const { model, before, after } of changes) {
    const old = before === null ? "" : style.dim(` (was ${pairsText(before)})`);
    print(`${style.green("+")} ${model}: ${pairsText(after)}${old}`);
  }
  for (const { model, reason } of skipped) print(`${style.yellow("?")} ${model} ${reason}`);
  const count = `${changes.length} ${changes.length === 1 ? "model" : "models"}`;
  if (changes.length === 0) return print("Nothing to set.");
  if (applied) return print(`${style.green("priced")} ${count}`);
  print(`${count} to price. Nothing was changed (--dry-run).`);
}

const priceRemove = viewCommand({
  name: "price remove",
  about: "Remove the price of a model. The model is not served until it has a price again.",
  positionals: ["MODEL"],
  examples: ["svc price remove svc-3-flash"],
  load: (operations, { positionals: [model = ""] }) => operations.prices.remove({ model }),
  show: ({ model }) =>
    print(`${style.green("removed")} the price of ${model}, which is no longer served`),
});

const priceList = viewCommand({
  name: "price list",
  about: "List active and scheduled prices, prices at a date, or all versions.",
  optional: ["MODEL"],
  flags: {
    at: { about: "prices at this date or time", value: "DATE" },
    history: { about: "all versions" },
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
    if (rows.length === 0)
      return printHint("No prices yet, because there are no models. See svc model list.");
    print(style.dim("USD per million tokens, per image, per second of video or audio"));
    printTable(
      ["model", "version", "price", "from", "state"],
      rows.map((row) => [row.model, row.version, priceText(row), fromOf(row), stateOf(row)]),
    );
  },
});

const priceImport = viewCommand({
  name: "price import",
  about:
    "Import vendors' list prices. Sets costs for routes without one and prices for models without one.",
  variadic: "MODEL",
  flags: {
    markup: { about: "markup on the models' prices in percent, such as 20", value: "PERCENT" },
    replace: { about: "also replace existing prices and costs" },
    "dry-run": { about: "show the changes without making them" },
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
  version === null ? null : (effective_at ?? "start");

function stateOf({ version, price, in_force, effective_at }: PriceRow): string {
  if (in_force) return "active";
  if (version === null) return "not served";
  if (price === null) return "removed";
  return effective_at !== null && Date.parse(effective_at) > Date.now() ? "scheduled" : "replaced";
}

function printImport({ set, left, unknown, notes, applied }: ImportView, dryRun: boolean): void {
  const nameOf = ({ model, route }: { readonly model: string; readonly route: string | null }) =>
    route === null ? `price of ${model}` : `cost of ${model} on ${route}`;
  for (const row of set)
    print(
      `${style.green("+")} ${nameOf(row)}: ${pairsText(row.price)} ${style.dim(`(${row.source})`)}`,
    );
  for (const row of left) {
    const advice = row.replaceable ? "; use --replace to overwrite it" : "";
    print(`${style.dim("=")} ${nameOf(row)}: ${row.reason}${advice}`);
  }
  for (const row of unknown) print(`${style.yellow("?")} ${nameOf(row)}: ${row.reason}`);
  for (const row of notes) print(`${style.yellow("!")} ${row.model} on ${row.route}: ${row.note}`);
  if (set.length === 0) return print("Nothing to set.");
  const count = `${set.length} ${set.length === 1 ? "price" : "prices"}`;
  if (dryRun) return print(`${count} to set. Nothing was changed (--dry-run).`);
  if (!applied) return;
  print(
    `${style.green("set")} ${count}. These are list prices. Check them against your contracts.`,
  );
  printHint(
    style.dim(
      "svc apply restores the prices in svc.yaml. svc export prints the new ones for the file.",
    ),
  );
}
