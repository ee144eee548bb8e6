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

test("a stored row that names what svc.yaml could not have runs and reads nothing", async () => {
  const commands = new KeyCommands({}, 300_000);
  const own = `command:${process.execPath} --version`;
  const foreign = [`${own}\t`, `${own} $HOME`, `${own} >x`, `${own} {1}`];
  await commands.refresh([own, ...foreign], { retries: true });
  await commands.rerun(foreign);
  const sources = { environment: {}, commands };
  expect(valueOf(own, sources)).toBe(Bun.version);
  for (const one of foreign)
    expect([commands.hasRun(one), valueOf(one, sources)]).toEqual([false, undefined]);
  const link = `file:/proc/self/cwd/../$HOME/..${import.meta.path}`;
  expect(valueOf(link, sources)).toBeUndefined();
  await commands.close();
});
