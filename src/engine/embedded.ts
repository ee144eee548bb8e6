import { type SetName, setNames } from "../../engine/weights/sets.ts";
import { fromDecimal } from "../base/decimal.ts";
import { type Price, type PriceKey, priceScale } from "../call/price.ts";
import type { CatalogWrite } from "../catalog/catalog.ts";
import { engineProvider, type Model, type Route, type seededModels } from "../catalog/model.ts";

/** The weights that a model of the engine needs; none for the operator's own files. */
export function setOf(engineModel: string): SetName | undefined {
  return setNames.find((set) => set === engineModel.replace(/-(flash|pro)$/, ""));
}

interface Embedded extends Pick<Model, "endpoint" | "input"> {
  readonly id: (typeof seededModels)[number];
  readonly serves: string;
  readonly price: Partial<Record<PriceKey, string>>;
  readonly maxOutputTokens?: number;
  readonly maxAudioSeconds?: number;
}

/** The models of the contract as this machine can serve them, with prices to start from. */
const embedded: readonly Embedded[] = [
  {
    id: "svc-embedding-2",
    endpoint: "embeddings",
    input: "text",
    serves: "text",
    price: { input: "0.02" },
  },
  {
    id: "svc-3-flash",
    endpoint: "chat",
    input: "text",
    serves: "chat",
    price: { input: "0.30", cached_input: "0.03", output: "2.50" },
    maxOutputTokens: 512,
  },
  {
    id: "svc-2.5-flash-tts",
    endpoint: "speech",
    input: "text",
    serves: "speech-flash",
    price: { input: "0.50", audio_output: "10" },
  },
  {
    id: "svc-2.5-pro-tts",
    endpoint: "speech",
    input: "text",
    serves: "speech-pro",
    price: { input: "1", audio_output: "20" },
  },
  {
    id: "multimodal-embedding-1",
    endpoint: "embeddings",
    input: "media",
    serves: "image",
    price: { image: "0.0001", video_second: "0.0005" },
  },
  {
    id: "svc-transcribe-1",
    endpoint: "transcription",
    input: "text",
    serves: "recognizer",
    price: { audio_second: "0.0001" },
  },
];

/** Those of them that a catalogue lacks, with their prices; one that has no route gets its own back. */
export function embeddedModels(
  known: readonly Model[],
  nowMs: number,
): Required<Pick<CatalogWrite, "saveModels" | "addPrices">> {
  const lacking = embedded.filter(({ id }) =>
    known.every((model) => model.id !== id && model.aliases?.includes(id) !== true),
  );
  const unrouted = known.flatMap((model) => {
    const own = embedded.find((entry) => entry.id === model.id);
    const isOwn = own?.endpoint === model.endpoint && own.input === model.input;
    return isOwn && model.routes.length === 0 ? [{ ...model, routes: routesTo(own) }] : [];
  });
  return {
    saveModels: [...unrouted, ...lacking.map((entry) => toModel(entry, nowMs))],
    addPrices: lacking.map(({ id, price }) => ({
      modelId: id,
      price: toPrice(price),
      effectiveAtMs: 0,
      createdAtMs: nowMs,
    })),
  };
}

function toModel(entry: Embedded, nowMs: number): Model {
  const { serves: _serves, price: _price, ...rest } = entry;
  return {
    ...rest,
    ownedBy: "svc",
    createdAtMs: nowMs,
    prices: [],
    routes: routesTo(entry),
    lifecycle: {},
  };
}

function routesTo({ serves, endpoint }: Embedded): readonly Route[] {
  const voices = endpoint === "speech" ? { voices: "same" as const } : {};
  return [{ provider: engineProvider, model: serves, weight: 1, ...voices }];
}

function toPrice(texts: Embedded["price"]): Price {
  const pairs = Object.entries(texts) as [PriceKey, string][];
  return Object.fromEntries(
    pairs.map(([key, text]) => [key, fromDecimal(text, priceScale(key)) ?? 0n]),
  );
}
