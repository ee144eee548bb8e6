import { expect, test } from "bun:test";
import { isLoopback } from "./loopback.ts";

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.3", "::1", "[::1]"])(
  "%s is this machine",
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each(["", "0.0.0.0", "::", "10.0.0.5", "127.example", "localhost.example", "1127.0.0.1"])(
  "%p is not",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
