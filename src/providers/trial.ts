import type { UpstreamTrouble } from "../base/errors.ts";
import { wavHeader } from "../base/wav.ts";
import type { ChatCall } from "../call/chat.ts";
import { type EmbedInput, lengthOf } from "../call/embed.ts";
import type { TranscribeCall } from "../call/transcribe.ts";
import type { Trial, TrialKind, TrialLimits } from "../call/trial.ts";
import type { Probe, Provider, ProviderCall } from "./contract.ts";
import { upstreamError } from "./kit/failure.ts";

/** Makes the call; resolves to what came of it, in a few words, and throws what the provider throws. */
export async function runTrial(
  provider: Provider,
  trial: Trial,
  limits: TrialLimits,
): Promise<string> {
  return limited(provider.name, limits, ({ onBegun, ...context }) => {
    const run = runs[trial.kind];
    const target = {
      model: trial.model,
      ...(trial.voices === undefined ? {} : { voices: trial.voices }),
    };
    const ask = <T>(call: T): ProviderCall<T> => ({ call, target, ...context });
    return run(provider, { ask, onBegun });
  });
}

/** What it offers, within the time. */
export async function listOffered(provider: Provider, limits: TrialLimits) {
  const list = provider.listModels?.bind(provider);
  if (list === undefined) return undefined;
  return limited(provider.name, limits, ({ signal }) => list(signal));
}

type Context = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial"> & {
  /** The first word of the answer is there. */
  readonly onBegun: () => void;
};

/** Ends when the time is up, and sooner when no connection can be made. */
async function limited<T>(
  provider: string,
  { lookMs, withinMs, firstByteMs = withinMs }: TrialLimits,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const fail = (problem: string, facts: Pick<UpstreamTrouble, "symptom" | "withinMs">) =>
    controller.abort(
      upstreamError("upstream_timeout", {
        detail: `${provider}: ${problem}`,
        reason: "timeout",
        ...facts,
      }),
    );
  let isAccepted = false;
  let probe: Probe | undefined;
  const look = setTimeout(async () => {
    if (isAccepted || probe === undefined) return;
    const problem = await probe(lookMs);
    if (problem !== undefined) fail(problem, { symptom: "unconnected" });
  }, lookMs);
  const late = (withinMs: number) =>
    setTimeout(() => fail(`no response within ${withinMs} ms`, { withinMs }), withinMs);
  const begin = late(Math.min(firstByteMs, withinMs));
  const end = late(withinMs);
  try {
    return await work({
      signal: controller.signal,
      onAccepted: () => (isAccepted = true),
      onDial: (given) => (probe = given),
      onBegun: () => clearTimeout(begin),
    });
  } finally {
    for (const timer of [look, begin, end]) clearTimeout(timer);
  }
}

type Ask = <T>(call: T) => ProviderCall<T>;
type Run = (
  provider: Provider,
  way: { readonly ask: Ask; readonly onBegun: () => void },
) => Promise<string>;

const hello: ChatCall = {
  messages: [{ role: "user", content: "Answer with the word OK." }],
  maxOutputTokens: 32,
  options: {},
};

const runs: Readonly<Record<TrialKind, Run>> = {
  async chat(provider, { ask }) {
    if (provider.chat === undefined) throw unable(provider);
    const { choices, usage } = await provider.chat(ask(hello));
    if (choices.length === 0) throw broken(provider, "sent no choices");
    return usage === undefined ? "answered, no usage reported" : "answered";
  },
  async stream(provider, { ask, onBegun }) {
    if (provider.streamChat === undefined) throw unable(provider);
    const stream = await provider.streamChat(ask(hello));
    try {
      let hasUsage = false;
      for (;;) {
        const parts = await stream.read();
        if (parts === undefined) throw broken(provider, "ended its stream early");
        onBegun();
        if (parts.some(({ type }) => type === "usage")) hasUsage = true;
        if (parts.some(({ type }) => type === "done"))
          return hasUsage ? "answered" : "answered, no usage reported";
      }
    } finally {
      stream.cancel();
    }
  },
  embeddings: (provider, { ask }) => embed(provider, ask, { kind: "texts", texts: ["OK"] }),
  media: (provider, { ask }) => embed(provider, ask, { kind: "images", dataUris: [smallImage] }),
  async speech(provider, { ask }) {
    if (provider.speak === undefined) throw unable(provider);
    const stream = await provider.speak(ask({ text: "OK.", voice: "Kore" as const }));
    try {
      for (;;) {
        const bytes = await stream.read();
        if (bytes === undefined) throw broken(provider, "sent no audio");
        if (bytes.length > 0) return "sent audio";
      }
    } finally {
      stream.cancel();
    }
  },
  async transcription(provider, { ask }) {
    if (provider.transcribe === undefined) throw unable(provider);
    const { text } = await provider.transcribe(ask(silence));
    return text.trim() === "" ? "heard the silence" : "answered";
  },
};

/** One second without a sound. */
const silence: TranscribeCall = {
  audio: {
    bytes: new Uint8Array([...wavHeader({ dataBytes: 48_000 }), ...new Uint8Array(48_000)]),
    type: "wav",
    durationS: 1,
  },
  detail: "text",
};

async function embed(provider: Provider, ask: Ask, input: EmbedInput): Promise<string> {
  if (provider.embed === undefined) throw unable(provider);
  const { vectors } = await provider.embed(
    ask({ input, dimensions: undefined, encoding: "float" as const }),
  );
  const [vector] = vectors;
  if (vector === undefined) throw broken(provider, "sent no vector");
  return `${lengthOf(vector)} dimensions`;
}

const unable = ({ name }: Provider) =>
  upstreamError("upstream_error", {
    detail: `${name} does not support this kind of call`,
    reason: "refused",
  });

const broken = ({ name }: Provider, what: string) =>
  upstreamError("upstream_error", { detail: `${name} ${what}`, reason: "failed" });

/** 32 × 32 pixels of one color. */
const smallImage =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4YKBAU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAGWUgD1SPs07AAAAAElFTkSuQmCC";
