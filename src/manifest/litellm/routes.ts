import { fromDecimal } from "../../base/decimal.ts";
import type { Entry } from "./entry.ts";
import type { ProviderNames } from "./names.ts";
import { type PriceTexts, shiftDecimal } from "./price.ts";
import type { Remarks, Source } from "./source.ts";

type Voices = "same" | Readonly<Record<string, string>>;

/** As svc.yaml has it. */
export interface RouteDraft {
  readonly provider: string;
  readonly model: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly voices?: Voices;
  readonly cost?: PriceTexts;
}

/** The entries of one name, in the order in which LiteLLM would ask them. */
export function toRoutes(options: {
  readonly entries: readonly Entry[];
  readonly nameOf: ProviderNames;
  readonly remarks: Remarks;
}): RouteDraft[] {
  const { entries, nameOf, remarks } = options;
  const orders = entries.map((entry) => readOrder(entry, remarks));
  const levels = [...new Set(orders)].toSorted((one, other) => one - other);
  const routes: RouteDraft[] = [];
  for (const [at, level] of levels.entries()) {
    const peers = entries.filter((_, index) => orders[index] === level);
    const weights = readWeights(peers, remarks);
    for (const [index, entry] of peers.entries()) {
      const { target, costs } = entry;
      const weight = weights[index] ?? 1;
      const route: RouteDraft = {
        provider: nameOf(target),
        model: target.model,
        ...(at === 0 ? {} : { priority: at + 1 }),
        ...(weight === 1 ? {} : { weight }),
        ...(entry.endpoint === "speech" ? { voices: readVoices(entry, remarks) } : {}),
        ...(Object.keys(costs).length === 0 ? {} : { cost: costs }),
      };
      if (routes.some((one) => isSame(one, route)))
        remarks.note(entry.line, `${entry.name} leads twice to the same model: once is taken over`);
      else routes.push(route);
    }
  }
  return routes;
}

export function isSame(one: RouteDraft, other: RouteDraft): boolean {
  return one.provider === other.provider && one.model === other.model;
}

/** Entries without an order come last where others have one, as LiteLLM asks them last or never. */
function readOrder({ params, info }: Entry, remarks: Remarks): number {
  const source = params.has("order") ? params : info;
  const text = source.text("order");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  remarks.problem(source.line("order"), "order must be a whole number");
  return Number.POSITIVE_INFINITY;
}

/** LiteLLM goes by the first of these that its first entry has, and takes a lack in others for 0. */
const weightFields = ["weight", "rpm", "tpm"] as const;

function readWeights(entries: readonly Entry[], remarks: Remarks): readonly number[] {
  const [first] = entries;
  const limits = entries.flatMap(({ params }) =>
    ["rpm", "tpm"].filter((name) => params.has(name)).map((name) => ({ name, params })),
  );
  const field = weightFields.find((name) => first?.params.has(name));
  const isWeighed = field !== undefined && entries.length > 1;
  const [limit] = limits;
  if (first !== undefined && limit !== undefined)
    remarks.note(
      limit.params.line(limit.name),
      `${first.name}: rpm and tpm of an entry are ${isWeighed && field !== "weight" ? "its weight and no longer " : "not taken over as "}a limit: limits stand on keys and accounts here (svc key create --rpm)`,
    );
  for (const { params } of entries) params.use(...weightFields);
  if (!isWeighed) return [];
  return toWhole(entries.map(({ params }) => readWeight({ params, field, remarks })));
}

const weightScale = 6;

function readWeight(options: {
  readonly params: Source;
  readonly field: string;
  readonly remarks: Remarks;
}): bigint {
  const { params, field, remarks } = options;
  const text = params.text(field);
  if (text === undefined) return 0n;
  const plain = shiftDecimal(text, 0);
  const units = plain === undefined ? undefined : fromDecimal(plain, weightScale);
  if (units === undefined) remarks.problem(params.line(field), `${field} must be a number`);
  return units ?? 0n;
}

const maxWeight = 1_000_000n;

/** In the same proportion, as whole numbers that are as small as can be. */
function toWhole(weights: readonly bigint[]): readonly number[] {
  const common = weights.reduce(greatestCommon, 0n);
  if (common === 0n) return [];
  const small = weights.map((weight) => weight / common);
  const largest = small.reduce((one, other) => (one > other ? one : other), 0n);
  const divisor = (largest + maxWeight - 1n) / maxWeight;
  return small.map((weight) => Number((weight + divisor - 1n) / divisor));
}

function greatestCommon(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestCommon(other, one % other);
}

/** Deep, lively, low, firm, light: the nearest that OpenAI's speech models have. */
const openaiVoices = {
  Kore: "nova",
  Puck: "fable",
  Charon: "onyx",
  Fenrir: "echo",
  Aoede: "shimmer",
};

function readVoices({ name, line, target }: Entry, remarks: Remarks): Voices {
  if (target.fields["kind"] === "gemini" || target.fields["kind"] === "vertex") return "same";
  const isOpenai = target.fields["vendor"] === "openai" || target.fields["vendor"] === "azure";
  remarks.note(
    line,
    isOpenai
      ? `${name}: its voices stand for our five names as we think fit: see voices in svc.yaml`
      : `${name}: our five voices are asked for by their own names: write in voices what its server calls them`,
  );
  return isOpenai ? openaiVoices : "same";
}
