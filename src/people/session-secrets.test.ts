import { expect, test } from "bun:test";
import { newSessionSecret, SessionSecrets } from "./session-secrets.ts";

const secrets = new SessionSecrets(new Uint8Array(32).fill(1));
const others = new SessionSecrets(new Uint8Array(32).fill(2));
const nowMs = Date.UTC(2027, 0, 1);
const yearMs = 365 * 86_400_000;

test("a browser's session opens with its own binding alone", () => {
  const secret = newSessionSecret(true);
  const binding = secrets.bindingOf(secret) ?? "";
  expect(secrets.opens(secret, binding)).toBe(true);
  const wrong = [
    null,
    "",
    secret,
    `${binding}x`,
    binding.slice(1),
    others.bindingOf(secret),
    secrets.bindingOf(newSessionSecret(true)),
  ];
  for (const given of wrong) expect(secrets.opens(secret, given)).toBe(false);
});

test("a program's session opens by its cookie, and not in a page that has a binding", () => {
  const secret = newSessionSecret(false);
  expect(secrets.bindingOf(secret)).toBeNull();
  expect(secrets.opens(secret, null)).toBe(true);
  const page = secrets.bindingOf(newSessionSecret(true));
  for (const given of [page, "", "null"]) expect(secrets.opens(secret, given)).toBe(false);
});

test("a session of before there were bindings opens no more", () => {
  const before = Buffer.alloc(32, 5).toString("base64url");
  expect(secrets.opens(before, null)).toBe(false);
  expect(secrets.opens(before, "x")).toBe(false);
  expect(secrets.opens("", null)).toBe(false);
});

test("a device names its person, until it was not used for more than a year", () => {
  const text = secrets.newDevice("user_1", nowMs, false);
  const device = secrets.readDevice(text, nowMs + yearMs);
  expect(device).toMatchObject({ userId: "user_1", hasProof: false });
  const proved = secrets.readDevice(secrets.newDevice("user_1", nowMs, true), nowMs);
  expect(proved).toMatchObject({ userId: "user_1", hasProof: true });
  expect(device?.id).not.toBe(
    secrets.readDevice(secrets.newDevice("user_1", nowMs, false), nowMs)?.id,
  );
  expect(secrets.readDevice(text, nowMs + 2 * yearMs)).toBeUndefined();
});

test("a device that was changed, made up, or signed by another server is none", () => {
  const text = secrets.newDevice("user_1", nowMs, false);
  const wrong = [
    "",
    ".",
    "....",
    text.replace("user_1", "user_2"),
    text.slice(0, -1),
    `${text}x`,
    others.newDevice("user_1", nowMs, false),
    "x".repeat(10_000),
  ];
  for (const given of wrong) expect(secrets.readDevice(given, nowMs)).toBeUndefined();
});
