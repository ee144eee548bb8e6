import { expect, test } from "bun:test";
import { commands } from "../commands.ts";
import { asTyped, firstWords } from "./own-command.ts";

test("every command is known, but for those that are also names of programs", () => {
  const first = new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""));
  expect([...firstWords, "gateway", "platform"].toSorted()).toEqual([...first].toSorted());
});

test.each([
  ["Try: svc model list", "Try: npx svc model list"],
  [
    "svc price set sets one; svc price import does, too.",
    "npx svc price set sets one; npx svc price import does, too.",
  ],
  ["\x1b[36msvc chat\x1b[0m", "\x1b[36mnpx svc chat\x1b[0m"],
  ["(svc account credit adds more)", "(npx svc account credit adds more)"],
  ["Use tail -F FILE | svc logs -", "Use tail -F FILE | npx svc logs -"],
  ["svc --help lists the commands.", "npx svc --help lists the commands."],
])("commands in a text are as they are typed: %s", (text, typed) => {
  expect(asTyped(text, "npx svc")).toBe(typed);
  expect(asTyped(text, "svc")).toBe(text);
});

test.each([
  "svc gateway 0.1.0",
  "svc platform needs PostgreSQL",
  "svc 0.1.0",
  "/srv/svc backup",
  "sudo -u svc backup",
  "the folder .svc store",
  "svc serves calls",
  "svc-gateway serve",
])("what is no command stays: %s", (text) => expect(asTyped(text, "npx svc")).toBe(text));
