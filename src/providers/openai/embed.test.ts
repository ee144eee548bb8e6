import { describe, expect, test } from "bun:test";
import type { EmbedCall, EmbedResult } from "../../call/embed.ts";
import { CallSignal } from "../../call/signal.ts";
import { FetchReply } from "../kit/reply.ts";
import { createEmbed } from "./embed.ts";

/** One vector, as the vendor sent it. */
function embedded(embedding: unknown, encoding: EmbedCall["encoding"]): Promise<EmbedResult> {
  const reply = { data: [{ index: 0, embedding }], usage: { prompt_tokens: 1 } };
  const embed = createEmbed("vendor", async () => new FetchReply(Response.json(reply)));
  return embed({
    call: { input: { kind: "texts", texts: ["a"] }, dimensions: undefined, encoding },
    target: { model: "m" },
    signal: new CallSignal(),
    onAccepted: () => {},
    onDial: () => {},
  });
}

const toBase64 = (values: readonly number[]) =>
  Buffer.from(Float32Array.from(values).buffer).toString("base64");
const encodings = ["float", "base64"] as const;

describe("a vector in base64", () => {
  for (const length of [1, 2, 3, 768, 3_072, 16_384, 16_385])
    test(`of ${length} numbers is taken, with and without padding`, async () => {
      const padded = toBase64(Array.from({ length }, (_, at) => at / 3));
      for (const text of [padded, padded.replaceAll("=", "")])
        for (const encoding of encodings)
          expect((await embedded(text, encoding)).vectors).toEqual([text]);
    });

  const whole = toBase64([1, 2, 3]);
  test.each([
    ["nothing", ""],
    ["half a number", Buffer.from([1, 2, 3, 4, 5, 6]).toString("base64")],
    ["a space within", `${whole.slice(0, 4)} ${whole.slice(5)}`],
    ["a line end after it", `${whole}\n`],
    ["digits of URLs", "_-_-_-_-_-_-_-_-"],
    ["padding within", `${whole.slice(0, 6)}==${whole.slice(8)}`],
    ["a letter that is no digit", `é${whole.slice(1)}`],
    ["a letter whose last byte is a digit", `Ł${whole.slice(1)}`],
    ["half of a character", `\ud841${whole.slice(1)}`],
    ["a digit too many", `${whole}A`],
  ])("with %s is a broken reply", async (_, text) => {
    for (const encoding of encodings)
      await expect(embedded(text, encoding)).rejects.toMatchObject({ code: "upstream_error" });
  });

  test("may hold what is no number only where it stays base64", async () => {
    const text = toBase64([1, Number.NaN]);
    expect((await embedded(text, "base64")).vectors).toEqual([text]);
    await expect(embedded(text, "float")).rejects.toMatchObject({ code: "upstream_error" });
  });
});

test("a number beyond float32 is a broken reply", async () => {
  for (const value of [3.5e38, "1", null, true])
    await expect(embedded([1, value], "float")).rejects.toMatchObject({ code: "upstream_error" });
});
