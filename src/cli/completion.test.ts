import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../test/setup/folder.ts";
import { commands } from "./commands.ts";
import { completionScript } from "./completion.ts";

const folder = useFolder();
const script = join(folder, "svc.bash");
writeFileSync(script, completionScript("bash", commands));
writeFileSync(join(folder, "other.yaml"), "");

/** What bash offers at the end of a line, in a process of its own that has sourced the script. */
function completed(line: string): readonly string[] {
  const { stdout, stderr, exitCode } = Bun.spawnSync(
    [
      "bash",
      "--norc",
      "-c",
      `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      script,
      ...line.split(" "),
    ],
    { cwd: folder, env: { PATH: process.env["PATH"] ?? "" } },
  );
  expect([line, exitCode, stderr.toString()]).toEqual([line, 0, ""]);
  return stdout
    .toString()
    .split("\n")
    .filter((word) => word !== "");
}

test("bash completes commands, flags and values", () => {
  const cases: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["svc ac", ["account"]],
    ["svc account cr", ["create", "credit"]],
    ["svc account create --r", ["--rpm"]],
    ["svc account create --rpm ", []],
    ["svc model route ", ["add", "edit", "remove"]],
    ["svc receipt ", ["list", "export"]],
    ["svc receipt --", ["--json", "--help"]],
    ["svc provider add gr", ["groq"]],
    ["svc provider add groq --al", ["--allow-private", "--all-models"]],
    ["svc provider add mine --kind ge", ["gemini"]],
    ["svc provider add mine --kind = ge", ["gemini"]],
    ["svc init --provider mis", ["mistral"]],
    ["svc say Hello --format ", ["wav", "pcm"]],
    ["svc say Hello -o oth", ["other.yaml"]],
    ["svc apply oth", ["other.yaml"]],
    ["svc engine pull te", ["text"]],
    ["svc completion ", ["bash", "zsh", "fish"]],
    ["svc --v", ["--version"]],
  ];
  for (const [line, words] of cases) expect([line, completed(line)]).toEqual([line, words]);
});

test("every script has all commands, flags and values of the table", () => {
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const script = completionScript(shell, commands);
    for (const { name, flags = {}, choices = [] } of commands) {
      expect(script).toContain(shell === "fish" ? `__svc_at "${name}"` : `'${name}')`);
      for (const [flag, { choices: values = [] }] of Object.entries(flags)) {
        expect(script).toContain(shell === "fish" ? `-l ${flag} ` : `--${flag}`);
        for (const value of values) expect(script).toContain(value);
      }
      for (const word of choices) expect(script).toContain(word);
    }
  }
});

test("a quote in a text stays inside its word", () => {
  const quoted = [
    {
      name: "odd",
      about: "It's odd.",
      flags: { flag: { about: "the vendor's", value: "X" } },
      examples: [],
      run: async () => {},
    },
  ];
  expect(completionScript("zsh", quoted)).toContain("'odd:It'\\''s odd'");
  expect(completionScript("fish", quoted)).toContain("-d 'It\\'s odd'");
  const { exitCode } = Bun.spawnSync(["bash", "-n", "/dev/stdin"], {
    stdin: Buffer.from(completionScript("bash", quoted)),
  });
  expect(exitCode).toBe(0);
});
