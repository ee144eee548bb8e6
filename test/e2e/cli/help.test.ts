import { afterAll, describe, expect, test } from "bun:test";
import { readInvocation, type Wiring } from "../../../src/cli/command.ts";
import { commandGroups, commands } from "../../../src/cli/commands.ts";
import { summary } from "../../../src/cli/help.ts";
import { createHome } from "../../setup/child.ts";

const home = createHome();
afterAll(() => home.remove());

const wideLines = (text: string) => text.split("\n").filter((line) => Bun.stringWidth(line) > 100);

describe("help", () => {
  test("names every command, and each command shows its usage, flags and examples", async () => {
    const overview = await home.svc("--help");
    expect(overview.code).toBe(0);
    expect(wideLines(overview.stdout)).toEqual([]);
    for (const command of commands)
      expect(overview.stdout).toMatch(
        new RegExp(`^  ${command.name} +${summary(command).split(" ").slice(0, 5).join(" ")}`, "m"),
      );
    const titles = commandGroups.map(({ title }) => overview.stdout.indexOf(`\n${title}\n`));
    expect(titles).toEqual(titles.toSorted((left, right) => left - right));
    expect(titles[0]).toBeGreaterThan(0);
    const helps = await Promise.all(
      commands.map(({ name }) => home.svc([...name.split(" "), "--help"])),
    );
    for (const [at, { name, flags = {}, examples }] of commands.entries()) {
      const { code, stdout } = helps[at] ?? { code: -1, stdout: "" };
      expect([name, code]).toEqual([name, 0]);
      expect(stdout).toContain(`Usage\n  svc ${name}`);
      expect(wideLines(stdout)).toEqual([]);
      for (const flag of Object.keys(flags)) expect(stdout).toContain(`--${flag}`);
      expect(examples).not.toBeEmpty();
      for (const example of examples) expect(stdout).toContain(example);
    }
  });

  test("is found in every place where people look for it", async () => {
    const all = (await home.svc("--help")).stdout;
    for (const words of [[], ["-h"], ["help"]])
      expect(await home.svc(words)).toEqual({ code: 0, stdout: all, stderr: "" });
    const { stdout } = await home.svc("key create -h");
    expect((await home.svc("help key create")).stdout).toBe(stdout);
    for (const words of ["key", "key --help", "help key", "model route"]) {
      const group = await home.svc(words);
      const name = words === "model route" ? words : "key";
      expect([words, group.code]).toEqual([words, 0]);
      for (const command of commands)
        expect([command.name, group.stdout.includes(`  ${command.name} `)]).toEqual([
          command.name,
          command.name.startsWith(`${name} `),
        ]);
    }
    expect((await home.svc("receipt --help")).stdout).toContain("receipt list    List");
    for (const word of ["--version", "-v", "-V", "version"])
      expect((await home.svc([word])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("has examples that the commands themselves understand", () => {
    const wiring = {} as Wiring;
    for (const command of commands)
      for (const example of command.examples) {
        const words = (example.split(/ [|<>] /)[0] ?? "").split(" ");
        const own = words.slice(words.indexOf("svc") + 1);
        const nameWords = command.name.split(" ");
        expect(own.slice(0, nameWords.length)).toEqual(nameWords);
        readInvocation(command, own.slice(nameWords.length), wiring);
      }
  });
});

test.each([
  "key revoke sk-svc-0123456789abcdef",
  "account show sk-proj-0123456789abcdef",
  "provider update openai gsk_0123456789abcdef",
  "sk-svc-0123456789abcdef",
])("an error does not repeat a key: svc %s", async (line) => {
  for (const more of [[], ["--json"]]) {
    const { code, stdout, stderr } = await home.svc([...line.split(" "), ...more]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain("0123456789");
  }
});
