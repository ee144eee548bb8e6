/** A count that was told before the last words is none of the whole, however the stream ends. */

import { beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatStream, DONE } from "../../fake/recordings.ts";
import type { Step } from "../../fake/script.ts";
import { BodyReader, parseStream } from "../../replies/event-stream.ts";
import { countTokens, flash, leaver, openPayer, warmCounter } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeAll(() => warmCounter(gateway));

const prompt = 19;
const words = [...Array.from({ length: 199 }, (_, at) => ` word${at}`), " theend"];
const costOf = (output: number) => BigInt(prompt) * flash.input + BigInt(output) * flash.output;
const counted = countTokens(words.join(""));
const finish = chatChunk({ finish: "stop" });

/** The input is known when the answer begins, and that is all that is told of it. */
const early = (completion: number) => [
  chatChunk({ delta: { role: "assistant", content: "" }, usage: usageOf({ prompt, completion }) }),
  ...words.map((content) => chatChunk({ delta: { content } })),
];
/** Told with every piece, of all until then. */
const often = words.map((content, at) =>
  chatChunk({ delta: { content }, usage: usageOf({ prompt, completion: at + 1 }) }),
);

type Events = Parameters<typeof chatStream>[0]["events"];

type End = "leaving" | "reset" | "close" | "hang" | "end";

interface Played {
  readonly events: Events;
  /** What happens when the caller has heard the last word. */
  readonly by: End;
  /** The first event comes by itself, or together with all others. */
  readonly isApart: boolean;
  readonly maxTokens?: number;
}

async function played({ events, by, isApart, maxTokens = 4_000 }: Played) {
  const payer = await openPayer(gateway);
  const { signal, leave } = leaver();
  const [begun, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const last = chatStream({ events: [finish, DONE] });
  const ends: Readonly<Record<End, Step>> = {
    leaving: { hang: true },
    hang: { hang: true },
    reset: { reset: true },
    close: { close: true },
    end: { send: Buffer.concat([...last.parts, last.end]) },
  };
  const { head, parts } = chatStream({ events });
  const first = Buffer.concat([head, ...parts.slice(0, 1)]);
  const rest = Buffer.concat(parts.slice(1));
  gateway.upstream.replyOnce([
    ...(isApart
      ? [{ send: first }, { until: begun.promise }, { send: rest }]
      : [{ send: Buffer.concat([first, rest]) }]),
    { until: heard.promise },
    ends[by],
  ]);
  const options = { stream: true, stream_options: { include_usage: true }, max_tokens: maxTokens };
  const body = new BodyReader(await payer.chat(options, { signal }));
  await body.until("assistant");
  begun.resolve();
  if (by !== "hang") await body.until("theend");
  heard.resolve();
  if (by === "leaving") await leave(body.rest());
  else {
    const { error, isDone } = parseStream(await body.rest());
    expect([error?.code, isDone]).toEqual(
      by === "end" || by === "hang" ? [undefined, true] : ["upstream_error", false],
    );
  }
  const { units, estimated, charged, outcome } = await payer.receipt();
  return { output: units.output, estimated, charged, outcome };
}

const endings = [
  ["the caller leaves", "leaving", "left"],
  ["the upstream resets the connection", "reset", "upstream_error"],
  ["the upstream closes it", "close", "upstream_error"],
  ["the stream comes to its proper end", "end", "ok"],
] as const;

for (const isApart of [true, false])
  for (const completion of [0, 1])
    describe(`a count of ${completion}, ${isApart ? "before" : "with"} two hundred words, is not what they cost:`, () => {
      for (const [name, by, outcome] of endings)
        test(name, async () => {
          expect(await played({ events: early(completion), by, isApart })).toEqual({
            output: counted,
            estimated: true,
            charged: costOf(counted),
            outcome,
          });
        });

      test("the answer is cut at its cap", async () => {
        const events = early(completion);
        expect(await played({ events, by: "hang", isApart, maxTokens: 50 })).toEqual({
          output: 50,
          estimated: true,
          charged: costOf(50),
          outcome: "ok",
        });
      });
    });

describe("a count that is told with every piece is believed:", () => {
  for (const isApart of [true, false])
    for (const [name, by, outcome] of endings)
      test(`${name}${isApart ? "" : ", all in one packet"}`, async () => {
        expect(await played({ events: often, by, isApart })).toEqual({
          output: words.length,
          estimated: false,
          charged: costOf(words.length),
          outcome,
        });
      });
});
