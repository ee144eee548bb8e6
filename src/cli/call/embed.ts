import { Problem } from "../../base/problem.ts";
import type { Command } from "../command.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { curlText } from "./curl-line.ts";
import {
  bodyText,
  type EmbedRequest,
  embedBody,
  mediaRequests,
  textRequest,
} from "./embed-input.ts";
import {
  callFlags,
  callGateway,
  chooseModel,
  type Gateway,
  openGateway,
  readJson,
} from "./gateway-client.ts";
import { numberFlag, readStdin, writeOut } from "./io.ts";
import { printSimilarities, printVector } from "./similarity.ts";

const path = "/embeddings";
const wantedText = { endpoint: "embeddings", input: "text", preferred: "svc-embedding-2" } as const;
const wantedMedia = {
  endpoint: "embeddings",
  input: "media",
  preferred: "multimodal-embedding-1",
} as const;

export const embed: Command = {
  name: "embed",
  about: "Embed texts, images or videos and compare them.",
  variadic: "TEXT",
  flags: {
    ...callFlags,
    dimensions: { about: "length of a text's vector: 768, 1536 or 3072", value: "N" },
    image: { about: "image to embed (PNG, JPEG, WebP or GIF)", value: "FILE", multiple: true },
    video: { about: "video to embed (MP4 or WebM)", value: "FILE", multiple: true },
    json: { about: "print the vectors as JSON" },
  },
  examples: [
    'svc embed "a cat on a mat"',
    'svc embed "a cat on a mat" "a kitten on a rug" "the price of oil"',
    "svc embed - --json < one-text-per-line.txt",
    "svc embed --image cat.jpg --image dog.jpg --video cat.mp4",
    "svc embed --model multimodal-embedding-1 cat.jpg dog.jpg",
  ],
  async run(invocation) {
    const { flags, switches, lists, positionals } = invocation;
    const { image = [], video = [] } = lists;
    const dimensions = numberFlag(flags, "dimensions");
    if (positionals.length + image.length + video.length === 0)
      throw new Problem({
        code: "invalid",
        message: "Nothing to embed. Pass a text, --image FILE or --video FILE.",
        command: "embed --help",
      });
    const words =
      positionals.length === 1 && positionals[0] === "-" ? await readLines() : positionals;
    const gateway = await openGateway(invocation);
    const { model: named } = flags;
    const isMedia = image.length + video.length > 0 || isMediaModel(gateway, named);
    const requests = isMedia
      ? mediaRequests({ files: words, images: image, videos: video })
      : [textRequest(words)];
    const wanted = isMedia ? wantedMedia : wantedText;
    if (switches.has("curl")) {
      const model = await chooseModel({ gateway, wanted, named });
      const url = `${gateway.baseUrl}${path}`;
      return writeOut(
        curlText(
          requests.map((request) => ({ url, body: embedBody(request, { model, dimensions }) })),
        ),
      );
    }
    const replies = await interruptible(async (signal) => {
      const model = await chooseModel({ gateway, wanted, named, signal });
      return callAll({ gateway, requests, fields: { model, dimensions }, signal });
    });
    if (switches.has("json"))
      return writeOut(`${JSON.stringify(joined(replies.map(({ reply }) => reply)), null, 2)}\n`);
    const embedded = replies.flatMap(({ labels, reply }) =>
      labels.map((label, at) => ({ label, vector: reply.data[at]?.embedding ?? [] })),
    );
    const [only] = embedded;
    if (embedded.length === 1 && only !== undefined) printVector(only);
    else printSimilarities(embedded);
  },
};

async function readLines(): Promise<readonly string[]> {
  const lines = (await readStdin()).split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0)
    throw new Problem({ code: "invalid", message: "Standard input is empty." });
  return lines;
}

function isMediaModel({ models }: Gateway, named: string | undefined): boolean {
  const known = models?.find(({ id }) => id === named);
  return known === undefined ? named === wantedMedia.preferred : known.input === "media";
}

interface EmbeddingsReply {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage?: Readonly<Record<string, number>>;
}

interface EmbedCalls {
  readonly gateway: Gateway;
  readonly requests: readonly EmbedRequest[];
  readonly fields: { readonly model: string; readonly dimensions: number | undefined };
  readonly signal: AbortSignal;
}

async function callAll({ gateway, requests, fields, signal }: EmbedCalls) {
  const replies: { readonly labels: readonly string[]; readonly reply: EmbeddingsReply }[] = [];
  for (const request of requests) {
    const body = bodyText(embedBody(request, fields));
    const { response } = await callGateway({ gateway, path, body, flags: embed.flags, signal });
    const reply = toReply(await readJson(response, signal), request.labels.length);
    replies.push({ labels: request.labels, reply });
  }
  return replies;
}

function toReply(value: unknown, count: number): EmbeddingsReply {
  const { data } = (value ?? {}) as { readonly data?: EmbeddingsReply["data"] };
  if (!Array.isArray(data) || data.length !== count)
    throw new Problem({
      code: "failed",
      message: `The reply does not contain the ${count} requested ${count === 1 ? "vector" : "vectors"}.`,
    });
  return { ...(value as EmbeddingsReply), data: data.toSorted((a, b) => a.index - b.index) };
}

/** Merges several replies into one. */
function joined(replies: readonly EmbeddingsReply[]): object {
  const [first] = replies;
  const usage: Record<string, number> = {};
  for (const reply of replies)
    for (const [name, count] of Object.entries(reply.usage ?? {}))
      usage[name] = (usage[name] ?? 0) + count;
  const data = replies.flatMap((reply) => reply.data).map((one, index) => ({ ...one, index }));
  return { ...first, data, usage };
}
