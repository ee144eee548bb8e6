import { expect, test } from "bun:test";
import { join } from "node:path";

/** What a command of its own prints, piped or as to a terminal that takes colours. */
async function printed(code: string, isTerminal: boolean) {
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `process.stdout.isTTY = process.stderr.isTTY = ${isTerminal}; const { print, printJson, printError, printTable, style } = await import(${JSON.stringify(join(import.meta.dir, "output.ts"))}); ${code}`,
    ],
    { stdout: "pipe", stderr: "pipe", env: { TERM: "xterm" } },
  );
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(0);
  return { out, error };
}

const hostile = "\x1b]0;owned\x07\x1b[2Jin\r\b\u009b2Kvoice";
const harmless = "]0;owned[2Jin2Kvoice";
const named = JSON.stringify(hostile);

test.each([
  ["piped", false],
  ["in colours", true],
])("%s, what others have named cannot steer the terminal", async (_, isTerminal) => {
  const code = `print("key " + ${named}); printTable(["NAME", "NEXT"], [[${named} + "\\nrow", "x"]]); printError(${named})`;
  const { out, error } = await printed(code, isTerminal);
  const lines = Bun.stripANSI(out).split("\n");
  expect(lines[0]).toBe(`key ${harmless}`);
  expect(lines[2]).toBe(`${harmless} row  x`);
  expect(lines[1]).toBe(`${"NAME".padEnd(`${harmless} row`.length)}  NEXT`);
  expect(Bun.stripANSI(error)).toBe(`error: ${harmless}\n`);
});

test("lines, tabs and its own colours are left", async () => {
  const code = `print(style.green("one") + "\\n\\ttwo"); printTable(["A"], [[style.red("three")]])`;
  const { out } = await printed(code, true);
  expect(out).toContain("\x1b[32mone\x1b[0m\n\ttwo\n");
  expect(out).toContain("\x1b[31mthree\x1b[0m\n");
});

test("JSON says exactly what there is, with every control character escaped", async () => {
  const { out } = await printed(`printJson({ name: ${named} + "\\t\\x7f" })`, false);
  expect(out).toMatch(/^[^\p{Cc}]*\n[^\p{Cc}]*\n[^\p{Cc}]*\n$/u);
  expect(JSON.parse(out)).toEqual({ name: `${hostile}\t\x7f` });
});
