import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Why a release stops, and what to do next. */
export class NotReady extends Error {
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

export interface Step {
  readonly name: string;
  /** What it does, for a dry run, where it is skipped. Steps without it only read. */
  readonly work?: string;
  /** Returns what it found. */
  run(): string | Promise<string>;
}

/** Runs the steps in order and stops at the first that fails. Returns whether all succeeded. */
export async function runChecklist(
  steps: readonly Step[],
  options: { readonly isDryRun: boolean; readonly write: (line: string) => void },
): Promise<boolean> {
  const { isDryRun, write } = options;
  for (const [index, { name, work, run }] of steps.entries()) {
    const head = `[${index + 1}/${steps.length}] ${name}`;
    if (isDryRun && work !== undefined) {
      write(`${head}: would ${work}`);
      continue;
    }
    try {
      write(`${head}: ${await run()}`);
    } catch (error) {
      const { message, next } =
        error instanceof NotReady
          ? error
          : { message: String(error), next: "Fix it and run npm run release again." };
      write(`${head}: FAILED. ${message}\n${next}`);
      return false;
    }
  }
  return true;
}

/** The steps that only look at the sources in `root`. */
export function sourceSteps(root: string): readonly Step[] {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const version = (): string => JSON.parse(read("package.json")).version;
  return [
    {
      name: "clean tree",
      run() {
        const changed = git(root, "status", "--porcelain");
        if (changed === "") return `commit ${git(root, "rev-parse", "--short", "HEAD")}`;
        const count = changed.split("\n").length;
        throw new NotReady(
          `${count} ${count === 1 ? "file is" : "files are"} not committed.`,
          "Commit or stash them: git status lists them.",
        );
      },
    },
    {
      name: "version",
      run() {
        const heading = /^## (.+)$/m.exec(read("CHANGELOG.md"))?.[1] ?? "";
        if (heading !== version())
          throw new NotReady(
            `package.json has version ${version()}, but CHANGELOG.md begins with "${heading}".`,
            `Change the heading in CHANGELOG.md to "## ${version()}", or the version with npm version --no-git-tag-version.`,
          );
        for (const path of ["engine/package.json", "console/package.json"]) {
          const other = JSON.parse(read(path)).version;
          if (other !== version())
            throw new NotReady(
              `${path} has version ${other}, package.json ${version()}.`,
              "Set both to the same version.",
            );
        }
        if (git(root, "tag", "--list", `v${version()}`) !== "")
          throw new NotReady(
            `The tag v${version()} exists already.`,
            "Choose the next version, in CHANGELOG.md and in the package.json of the root, engine and console.",
          );
        return version();
      },
    },
    {
      name: "API snapshot",
      run() {
        const folder = join(root, "docs", "api");
        const newest = readdirSync(folder)
          .filter((name) => name.startsWith("v1-"))
          .toSorted()
          .at(-1);
        const openapi = join("docs", "openapi.json");
        if (!existsSync(join(root, openapi)) || newest === undefined)
          throw new NotReady(
            "docs/openapi.json or docs/api/v1-….json is missing.",
            "Run npm run openapi.",
          );
        if (read(openapi) !== read(join("docs", "api", newest)))
          throw new NotReady(
            `docs/api/${newest} is not the API of docs/openapi.json.`,
            "Run: cp docs/openapi.json docs/api/v1-$(date -u +%F).json, and commit it.",
          );
        return newest;
      },
    },
  ];
}

function git(root: string, ...words: readonly string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...words], { cwd: root });
  if (exitCode === 0) return stdout.toString().trim();
  throw new NotReady(`git ${words[0]} failed: ${stderr.toString().trim()}`, "Run it in a clone.");
}
