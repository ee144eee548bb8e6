import { expect, test } from "bun:test";
import { MessageCounter } from "./message-counter.ts";

const message = (letter: string, body: string) => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(letter), head, Buffer.from(body)]);
};

const session = Buffer.concat([
  message("", "\0\x03\0\0user\0me\0\0"),
  message("Q", "select 1\0"),
  message("P", "name\0select $1\0\0\0"),
  message("B", "Q and S in a body are no messages"),
  message("S", ""),
  message("X", ""),
]);

test("messages and calls of a client are counted, however the bytes are cut", () => {
  for (let size = 1; size <= session.length; size++) {
    const counter = new MessageCounter("client");
    for (let at = 0; at < session.length; at += size) counter.add(session.subarray(at, at + size));
    const { messages, calls, bytes } = counter;
    expect({ messages, calls, bytes }).toEqual({ messages: 6, calls: 2, bytes: session.length });
  }
});

test("every message of a server has a letter", () => {
  const counter = new MessageCounter("server");
  counter.add(Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I")]));
  expect(counter.messages).toBe(2);
});
