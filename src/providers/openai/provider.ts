import type { ChatCall } from "../../call/chat.ts";
import type { Dialect } from "../../call/dialect.ts";
import { plainQuirks, type Quirks } from "../../call/quirks.ts";
import type { Signal } from "../../call/signal.ts";
import {
  type SpeakCall,
  type SpeakOption,
  type SpeakStream,
  speakOptions,
} from "../../call/speak.ts";
import type { TranscriptDetail } from "../../call/transcribe.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { upstreamError } from "../kit/failure.ts";
import { baseHeaders, send as sendTo, toBody, toNetworkError } from "../kit/http.ts";
import { readJson, type UpstreamReply } from "../kit/reply.ts";
import { CacheMarks } from "./cache-marks.ts";
import { fromOpenAiReply, wholeAsStream } from "./chat-reply.ts";
import { OpenAiChatStream } from "./chat-stream.ts";
import { createCompletions } from "./completions.ts";
import { createEmbed } from "./embed.ts";
import { type FieldRule, toFieldRules } from "./field-rules.ts";
import { fromOpenAiModels } from "./models.ts";
import { markOf } from "./responses/carried.ts";
import { ChatByResponses } from "./responses/chat-by-responses.ts";
import { createResponses, isForResponses } from "./responses.ts";
import { toMessages, toOptions } from "./to-messages.ts";
import { toTextResults } from "./tool-results.ts";
import { createTranscribe, type SendForm } from "./transcribe.ts";

export interface OpenAiOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly dialer: Dialer;
  readonly quirks?: Quirks | undefined;
  /** May be given addresses of callers to fetch. */
  readonly takesUrls?: boolean;
  /** A unix socket that the server listens on. */
  readonly socket?: string;
  /** Our own engine, whose words reach the caller as they stand. */
  readonly isOwn?: boolean;
}

type Sending = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial">;
type Send = (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  sending: Sending,
) => Promise<UpstreamReply>;

const streamed = ',"stream":true,"stream_options":{"include_usage":true}';

/** Any server that speaks the chat-completions format. */
export function createOpenAiProvider(options: OpenAiOptions): Provider {
  const { name, isOwn = false } = options;
  const quirks = options.quirks ?? plainQuirks;
  const { send, sendForm, get } = createSenders(options, quirks);
  const { takesUrls = false } = options;
  const rules = toFieldRules(quirks);
  const chats = createChats({ quirks, rules, takesUrls, isOwn, send });
  const native = createNative({ name, quirks, isOwn, rules, takesUrls, send });
  const mark = markOf(options.baseUrl);
  const byResponses =
    quirks.hasResponses === true
      ? new ChatByResponses({ name, mark, rules, takesUrls, send })
      : undefined;

  return {
    name,
    dialects: native.dialects,
    // Without an async function, like all that every request passes.
    chat(options) {
      const { signal, call } = options;
      const own = call.original === undefined ? undefined : native.find(call);
      if (own !== undefined) return own.whole(options);
      if (byResponses?.isFor(options) === true) return byResponses.whole(options);
      const read = (reply: UpstreamReply) => {
        const json = readJson(reply, { provider: name, signal });
        return json instanceof Promise
          ? json.then((value) => fromOpenAiReply(value, name))
          : fromOpenAiReply(json, name);
      };
      return chats
        .send(options, "")
        .then(read, (refusal: unknown) =>
          byResponses === undefined
            ? chats.sendAgain(options, "", refusal).then(read)
            : byResponses.whole(options, refusal),
        );
    },
    async streamChat(options) {
      const { signal, call } = options;
      const own = call.original === undefined ? undefined : native.find(call);
      if (own !== undefined) return own.stream(options);
      if (byResponses?.isFor(options) === true) return byResponses.stream(options);
      let reply: UpstreamReply;
      try {
        reply = await chats.send(options, streamed);
      } catch (refusal) {
        if (byResponses !== undefined) return byResponses.stream(options, refusal);
        reply = await chats.sendAgain(options, streamed, refusal);
      }
      const type = (reply.headers.get("content-type") ?? "").toLowerCase();
      if (type.startsWith("text/event-stream"))
        return new OpenAiChatStream({ provider: name, reply, signal });
      return wholeAsStream(
        fromOpenAiReply(await readJson(reply, { provider: name, signal }), name),
      );
    },
    embed: createEmbed(name, send),
    async speak(options) {
      const reply = await send("/audio/speech", toSpeechBody(options), options);
      return fromSpeechReply({ reply, provider: name, signal: options.signal });
    },
    // The embedded voices know neither.
    ...(isOwn ? {} : { speakOptions: (model) => takenInSpeech(quirks, model) }),
    ...createTranscribe(name, sendForm),
    transcriptDetail: (model) => detailOf(quirks, model),
    async listModels(signal) {
      const reply = await get("/models", signal);
      return fromOpenAiModels(await readJson(reply, { provider: name, signal }), name);
    },
  } satisfies Provider;
}

/** The ways to send to one server. */
function createSenders(options: OpenAiOptions, quirks: Quirks) {
  const { name, baseUrl, apiKey, socket, isOwn = false, dialer } = options;
  const pin = dialer.pin(baseUrl);
  const allHeaders = { ...baseHeaders(pin), ...keyHeaders(quirks.keyHeader, apiKey) };
  const headers = new Headers(allHeaders);
  const base = new URL(baseUrl).pathname.replace(/\/+$/, "");
  const send: Send = (path, body, { signal, onAccepted, onDial }) => {
    // Spelled out: copying properties costs a microsecond.
    return sendTo({
      provider: name,
      pin,
      path: base + path,
      headers,
      body,
      signal,
      socket,
      isOwn,
      onAccepted,
      onDial,
    });
  };
  const sendForm: SendForm = (path, { contentType, bytes }, sending) =>
    sendTo({
      provider: name,
      pin,
      path: base + path,
      headers: { ...allHeaders, "content-type": contentType },
      body: bytes,
      socket,
      isOwn,
      ...sending,
    });
  const get = (path: string, signal: Signal) =>
    sendTo({ provider: name, pin, path: base + path, headers, signal, socket, isOwn });
  return { send, sendForm, get };
}

interface NativeOptions {
  readonly name: string;
  readonly quirks: Quirks;
  readonly isOwn: boolean;
  readonly rules: readonly FieldRule[];
  readonly takesUrls: boolean;
  readonly send: Send;
}

/** The dialects beside chat completions that a server speaks itself. */
function createNative({ name, quirks, isOwn, rules, takesUrls, send }: NativeOptions) {
  const hasCompletions = !isOwn && quirks.noCompletions !== true;
  const hasResponses = quirks.hasResponses === true;
  const completions = hasCompletions ? createCompletions({ name, rules, send }) : undefined;
  const responses = hasResponses ? createResponses({ name, takesUrls, send }) : undefined;
  const dialects: Dialect[] = [];
  if (hasCompletions) dialects.push("completions");
  if (hasResponses) dialects.push("responses");
  return {
    dialects,
    /** What takes a call in its own dialect; undefined: it goes as chat completions. */
    find: (call: ChatCall) => {
      if (call.original?.dialect === "completions") return completions;
      return isForResponses(call) ? responses : undefined;
    },
  };
}

function toSpeechBody({ call, target }: ProviderCall<SpeakCall>): string {
  const { model, voices = "same" } = target;
  const { text: input, speed, instructions } = call;
  const voice = voices === "same" ? call.voice : voices[call.voice];
  // What is undefined is not written.
  return toBody({ model, input, voice, response_format: "pcm", speed, instructions });
}

function takenInSpeech({ ignoresInSpeech = [] }: Quirks, model: string): readonly SpeakOption[] {
  const rule = ignoresInSpeech.find(({ modelPrefix }) => model.startsWith(modelPrefix));
  return rule === undefined
    ? speakOptions
    : speakOptions.filter((option) => !rule.options.includes(option));
}

function detailOf({ plainTranscripts = [] }: Quirks, model: string): TranscriptDetail {
  return plainTranscripts.some((prefix) => model.startsWith(prefix)) ? "text" : "words";
}

interface ChatsOptions {
  readonly quirks: Quirks;
  readonly rules: readonly FieldRule[];
  readonly takesUrls: boolean;
  readonly isOwn: boolean;
  readonly send: Send;
}

/** Sends chats. `further`: what their bodies have beside the call, as JSON. */
function createChats(options: ChatsOptions) {
  const { quirks, isOwn, send } = options;
  const path = "/chat/completions";
  const body = createChatBody(options);
  const marks = quirks.cacheControl === undefined && !isOwn ? new CacheMarks() : undefined;
  return {
    send: (call: ProviderCall<ChatCall>, further: string) => {
      const isPlain = marks?.areRefusedFor(call.target.model) === true;
      return send(path, body(call, further, isPlain), call);
    },
    /** What was refused, once more without marks for a cache, if the refusal names them. */
    sendAgain: async (call: ProviderCall<ChatCall>, further: string, refusal: unknown) => {
      if (marks === undefined) throw refusal;
      const again = () => send(path, body(call, further, true), call);
      return marks.repeat(call, { refusal, send: again });
    },
  };
}

/** The body of a chat, by what the server takes. That is looked up here, once, for all requests. */
function createChatBody({
  quirks,
  rules,
  takesUrls,
}: Pick<ChatsOptions, "quirks" | "rules" | "takesUrls">) {
  const { capName, capBesidePrediction = capName, reasoningBack, onlySystem } = quirks;
  const { takesBack, cacheControl, reasoningField } = quirks;
  const isDropped = cacheControl === "dropped";
  const usual = { takesBack, takesUrls, reasoningBack, onlySystem, noCacheControl: isDropped };
  const plain = { ...usual, noCacheControl: true };
  /** Text put together piece by piece: a copy of the options costs more than all the rest. */
  return ({ call, target }: ProviderCall<ChatCall>, further: string, isPlain: boolean): string => {
    const sending = isPlain ? plain : usual;
    const { noCacheControl } = sending;
    const { messages, maxOutputTokens: cap, options } = call;
    const rest = toBody(toOptions(options, { cap, rules, noCacheControl, reasoningField }));
    const tail = rest === "{}" ? "}" : `,${rest.slice(1)}`;
    const name = options["prediction"] === undefined ? capName : capBesidePrediction;
    const capped = cap === undefined ? "" : `,"${name}":${cap}`;
    const head = `{"model":${JSON.stringify(target.model)},"messages":${toBody(toTextResults(toMessages(messages, sending)))}`;
    return head + capped + further + tail;
  };
}

function keyHeaders(name: string | undefined, apiKey: string | undefined) {
  if (apiKey === undefined) return {};
  return name === undefined ? { authorization: `Bearer ${apiKey}` } : { [name]: apiKey };
}

/**
 * Bare PCM of 24 kHz and one channel was asked for; a WAV can be unpacked. A server that says it
 * sends anything else is believed: it would be heard as noise.
 */
function mayBePcm(type: string): boolean {
  const [kind = "", ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((word) => word.trim());
  if (
    !/^(audio\/(x-|vnd\.)?(pcm|l16|raw|wav|wave)|(application|binary)\/octet-stream|)$/.test(kind)
  )
    return false;
  return parameters.every((parameter) => {
    const [name = "", value = ""] = parameter.replaceAll('"', "").split("=");
    const expected = pcmParameters[name];
    return expected === undefined || expected.includes(value);
  });
}

const pcmParameters: Readonly<Record<string, readonly string[]>> = {
  rate: ["24000"],
  channels: ["1"],
  bits: ["16"],
  encoding: ["pcm", "linear16", "signed-integer", "s16le"],
};

function fromSpeechReply({
  reply,
  provider,
  signal,
}: {
  reply: UpstreamReply;
  provider: string;
  signal: Signal;
}): SpeakStream {
  const type = reply.headers.get("content-type") ?? "";
  if (!mayBePcm(type)) {
    reply.cancel();
    throw upstreamError("upstream_error", {
      detail: `${provider} sent ${type || "an unknown type"} instead of audio`,
      symptom: type.startsWith("text/html") ? "not_an_api" : undefined,
    });
  }
  const length = Number(reply.headers.get("content-length") ?? Number.NaN);
  return {
    // The length of a compressed body says nothing about the audio's.
    lengthBytes:
      Number.isSafeInteger(length) && reply.headers.get("content-encoding") === null
        ? length
        : undefined,
    async read() {
      try {
        return await reply.read();
      } catch (cause) {
        throw toNetworkError({ provider, signal, cause });
      }
    },
    cancel: () => reply.cancel(),
  };
}
