import { expect, test } from "bun:test";
import { readReference } from "../exports/references.ts";
import { KeyCommands } from "./key-commands.ts";
import { valueOf } from "./references.ts";

test("a stored row that names a variable of the gateway's own gets no value", () => {
  const environment = { SVC_SECRET: "master", SVC_BACKUP_PASSPHRASE: "phrase", OWN_KEY: "key" };
  const sources = { environment, commands: new KeyCommands(environment, 1) };
  expect(valueOf("OWN_KEY", sources)).toBe("key");
  for (const name of ["SVC_SECRET", "SVC_BACKUP_PASSPHRASE"]) {
    expect(valueOf(name, sources)).toBeUndefined();
    const variable = (one: string) => (environment as Record<string, string>)[one];
    expect(() => readReference(`env:${name}`, variable)).toThrow("has no SVC_");
  }
});
