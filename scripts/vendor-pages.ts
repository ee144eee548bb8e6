// The pages of docs/providers: what the code knows of each vendor, in words.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type OptionalField,
  optionalFields,
  type Vendor,
  vendors,
} from "../src/catalog/vendors.ts";

const errorBodies = join(import.meta.dir, "..", "test", "providers", "error-bodies");

/** All pages by their file name. A test compares them with what is in docs/providers. */
export function vendorPages(): ReadonlyMap<string, string> {
  const pages = new Map(vendors.map((vendor) => [`${vendor.id}.md`, toPage(vendor)]));
  pages.set("README.md", toIndex());
  return pages;
}

function toIndex(): string {
  const rows = vendors.map(({ id, title, kind }) => [`[${title}](${id}.md)`, code(id), code(kind)]);
  return joined([
    "# Vendors",
    origin,
    `A server that is not listed does not get \`reasoning_details\`, \`extra_content\` and the fields that only some vendors take: ${list(optionalFields)}. The \`ttl\` of \`cache_control\` is removed. Everything else is sent as the caller sent it.`,
    table(["vendor", "`vendor:`", "kind"], rows),
    "How providers are connected and chosen is in [providers.md](../providers.md).",
  ]);
}

const origin = "Written by `npm run providers:docs` from the data that the gateway uses.";

function toPage(vendor: Vendor): string {
  const { id, title, kind, baseUrl, keyVariables } = vendor;
  const isOpenAi = kind === "openai";
  return joined([
    `# ${title}`,
    origin,
    table(
      ["setting", "value"],
      [
        ["`vendor`", code(id)],
        ["`kind`", code(kind)],
        ...(baseUrl === "" ? [] : [["`base_url`", code(baseUrl)]]),
        ...(keyVariables.length === 0 ? [] : [["key", list(keyVariables)]]),
        ...(vendor.keyHeader === undefined ? [] : [["header of the key", code(vendor.keyHeader)]]),
      ],
    ),
    isOpenAi
      ? sending(vendor)
      : `What this kind serves is in [providers.md](../providers.md#kinds).`,
    refusing(vendor),
    section("What it returns", vendor.replies),
    section("How it counts", vendor.counting),
    failing(vendor),
  ]);
}

function sending(vendor: Vendor): string {
  const rows = [
    ["`max_tokens`, `max_completion_tokens`", capRow(vendor)],
    ["role `developer`", vendor.onlySystem === true ? "sent as `system`" : "sent"],
    [
      "`reasoning_effort`, `reasoning`, `thinking`, `enable_thinking`",
      vendor.reasoningField === undefined ? "sent" : `sent as ${code(vendor.reasoningField)}`,
    ],
    ["reasoning of earlier answers", reasoningRow(vendor)],
    [
      "`reasoning_details`, `extra_content` of earlier answers",
      vendor.takesDetails === true ? "sent" : "left out",
    ],
    [
      "`cache_control`",
      vendor.noCacheControl === true
        ? "left out"
        : "sent without `ttl`, which would change the bill",
    ],
    ...Object.entries(vendor.renames ?? {}).map(([name, to]) => [
      code(name),
      `sent as ${code(to)}`,
    ]),
    ...(vendor.drops ?? []).map((name) => [code(name), "left out"]),
    ...optionalFields.map((name) => [code(name), optionalRow(vendor, name)]),
  ];
  return joined([
    "## What it takes",
    table(["field", "what the gateway does"], rows),
    "Other fields of the API are sent as they are.",
  ]);
}

function capRow({ capName, capBesidePrediction }: Vendor): string {
  const beside =
    capBesidePrediction === undefined
      ? ""
      : `; beside \`prediction\` as ${code(capBesidePrediction)}`;
  return `the smaller one is sent as ${code(capName)}${beside}`;
}

function reasoningRow({ reasoningBack }: Vendor): string {
  switch (reasoningBack) {
    case undefined:
      return "sent under the names that the caller used";
    case "none":
      return "left out";
    case "parts":
      return "sent as `thinking` parts of the content";
    default:
      return `sent as ${code(reasoningBack)}`;
  }
}

function optionalRow({ takes = [] }: Vendor, name: OptionalField): string {
  if (!takes.includes(name)) return "left out";
  return name === "service_tier"
    ? "`default` is sent; other tiers are left out, because they change the bill"
    : "sent";
}

function refusing({ refuses = [] }: Vendor): string | undefined {
  if (refuses.length === 0) return undefined;
  return joined([
    "## What it refuses",
    refuses.map((name) => `- ${code(name)}`).join("\n"),
    "The gateway sends these on, because they change the answer. The caller gets 400 `upstream_rejected`.",
  ]);
}

function section(title: string, sentences: readonly string[] = []): string | undefined {
  if (sentences.length === 0) return undefined;
  return joined([`## ${title}`, sentences.map((sentence) => `- ${sentence}`).join("\n")]);
}

interface Failure {
  readonly what: string;
  readonly status: number;
  readonly fault: string;
}

/** The vendor's error replies that the tests play, in words; none are known of some vendors. */
function failing({ id }: Vendor): string {
  const path = join(errorBodies, `${id}.json`);
  const known: { readonly bodies: readonly Failure[] } = existsSync(path)
    ? JSON.parse(readFileSync(path, "utf8"))
    : { bodies: [] };
  const rows = known.bodies.map(({ what, status, fault }) => [what, String(status), fault]);
  const general =
    "What the caller gets is in [providers.md](../providers.md#what-the-caller-sees-of-a-failure).";
  return rows.length === 0
    ? joined(["## How it fails", general])
    : joined(["## How it fails", table(["what", "status", "whose fault"], rows), general]);
}

const code = (text: string) => `\`${text}\``;
const list = (words: readonly string[]) => words.map(code).join(", ");
const joined = (parts: readonly (string | undefined)[]) =>
  `${parts
    .filter((part) => part !== undefined)
    .map((part) => part.trim())
    .join("\n\n")}\n`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
