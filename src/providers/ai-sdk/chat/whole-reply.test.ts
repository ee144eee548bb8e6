import { expect, test } from "bun:test";
import { FetchReply } from "../../kit/reply.ts";
import { isFields } from "../model.ts";
import { WholeReply } from "./whole-reply.ts";

test("a reply that is all there can be read in every way in which packages read", async () => {
  const text = '{"a":"ü"}';
  const reply = () =>
    new WholeReply(new FetchReply(new Response(null, { status: 201 })), Buffer.from(text));
  const bytes = Buffer.from(text);
  expect([reply().ok, reply().status]).toEqual([true, 201]);
  expect(await reply().text()).toBe(text);
  expect(await reply().json()).toEqual({ a: "ü" });
  expect(Buffer.from(await reply().bytes())).toEqual(bytes);
  expect(Buffer.from(await reply().arrayBuffer())).toEqual(bytes);
  expect(await (await reply().blob()).text()).toBe(text);
  const reader = reply().body.getReader();
  const pieces = [await reader.read(), await reader.read()];
  expect(pieces.map(({ done }) => done)).toEqual([false, true]);
  expect(pieces.filter(isFields)[0]?.value).toEqual(bytes);
  const decoded = reply().body.pipeThrough(new TextDecoderStream());
  expect(await new Response(decoded).text()).toBe(text);
  for await (const piece of reply().body) expect(Buffer.from(piece)).toEqual(bytes);
});
