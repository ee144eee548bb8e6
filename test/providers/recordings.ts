/**
 * Vendors' replies as data: a folder per vendor, a file per reply. A vendor is added by a folder;
 * no test changes.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/call/chat.ts";
import { findVendor } from "../../src/catalog/vendors.ts";

const folder = join(import.meta.dir, "recordings");

/** A caller's request, what the vendor replied, and what must become of both. */
export interface VendorRecording {
  /** The guarantee. */
  readonly name: string;
  /** USD per million tokens; where the vendor tells its cost, its own prices. */
  readonly price?: Readonly<Record<string, string>>;
  /** The caller's, without model and stream. */
  readonly request: JsonObject;
  readonly upstream: {
    /** A whole reply. */
    readonly body?: JsonObject;
    /** The same as a stream, without `[DONE]`. */
    readonly events?: readonly JsonObject[];
  };
  readonly expected: {
    /** Fields of the message; joined from the deltas in a stream. */
    readonly message?: JsonObject;
    /** Where a stream says other words than the whole reply. */
    readonly wholeText?: string;
    readonly streamedText?: string;
    /** `stop` by default. */
    readonly finish_reason?: string;
    /** Fields of the reply itself, or of some event of a stream. */
    readonly reply?: JsonObject;
    readonly usage?: JsonObject;
    /** Fields of the request to the vendor, exactly. */
    readonly sent?: JsonObject;
    /** Fields that must not be in the request to the vendor. */
    readonly absent?: readonly string[];
    readonly units: Readonly<Record<string, number>>;
    /** What the vendor says that it charged for the tokens, in nano-USD. */
    readonly vendor_cost_nano?: string;
  };
}

export interface NamedRecording extends VendorRecording {
  /** The name of its folder. */
  readonly vendor: string;
  /** Of its file; with the vendor's, the model's id. */
  readonly slug: string;
}

export function loadRecordings(): readonly NamedRecording[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: vendor }) =>
      readdirSync(join(folder, vendor))
        .filter((file) => file.endsWith(".json"))
        .map((file) => {
          const text = readFileSync(join(folder, vendor, file), "utf8");
          const recording: VendorRecording = JSON.parse(text);
          return { ...recording, vendor, slug: file.slice(0, -".json".length) };
        }),
    )
    .toSorted((a, b) => modelOf(a).localeCompare(modelOf(b)));
}

export const modelOf = ({ vendor, slug }: NamedRecording) => `${vendor}/${slug}`;

const usualPrice = { input: "0.30", cached_input: "0.03", output: "2.50" };

/** A provider per vendor, with its habits, and a model per recording, with its price. */
export function recordingsManifest(recordings: readonly NamedRecording[]): string {
  const providers = new Set(recordings.map(({ vendor }) => vendor));
  const entries = [...providers].map((id) => {
    const habits = findVendor(id)?.kind === "openai" ? `vendor: ${id}` : "kind: openai";
    return `  ${id}: { ${habits}, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }`;
  });
  const models = recordings.map((recording) => {
    const price = JSON.stringify(recording.price ?? usualPrice);
    const route = `{ provider: ${recording.vendor}, model: upstream }`;
    return `  "${modelOf(recording)}": { endpoint: chat, max_output_tokens: 8192, price: ${price}, routes: [${route}] }`;
  });
  return `providers:\n${entries.join("\n")}\nmodels:\n${models.join("\n")}\n`;
}

/** What the units cost at the recording's price, in nano-USD, by hand. */
export function costNano({ price = usualPrice, expected }: VendorRecording): bigint {
  const prices: Readonly<Record<string, string | undefined>> = price;
  let thousandths = 0n;
  for (const [name, count] of Object.entries(expected.units)) {
    const usd = prices[name] ?? prices["input"] ?? "0";
    // Nano-USD per token have three digits less than USD per million: those are kept.
    thousandths += BigInt(count) * BigInt(Math.round(Number(usd) * 1_000_000));
  }
  return (thousandths + 999n) / 1_000n;
}
