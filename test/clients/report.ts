import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Results of real clients against the real server. Every suite saves its result here, and the
 * tests generate `docs/compatibility.md` from all of them.
 */
export interface ClientResult {
  readonly client: string;
  readonly version: string;
  readonly language: "TypeScript" | "Python" | "Go";
  /** The command that runs it. */
  readonly command: string;
  readonly checks: Readonly<Record<string, "passed" | "failed">>;
}

const root = join(import.meta.dir, "..", "..");

/** Paths of the results and of the generated page. */
export interface ReportPaths {
  readonly results: string;
  readonly page: string;
}

const ownPaths: ReportPaths = {
  results: join(import.meta.dir, "results.json"),
  page: join(root, "docs", "compatibility.md"),
};

export type Check = (what: string, run: () => Promise<void>) => void;
type Outcome = ClientResult["checks"][string];

export interface SuiteOptions {
  /** The package that the client runs in. */
  readonly beside?: string;
  readonly paths?: ReportPaths;
}

/** The checks of one npm client. Each is a test and a line of the page. */
export function clientSuite(
  packageName: string,
  define: (check: Check) => void,
  { beside, paths = ownPaths }: SuiteOptions = {},
): void {
  describe(packageName, () => {
    const record = new SuiteRecord();
    // Before the hooks of the checks, so that none of them can prevent this one.
    afterAll(() => {
      const checks = record.outcomes();
      if (checks === undefined) return;
      const within = beside === undefined ? "" : ` in ${beside} ${installedVersion(beside)}`;
      const version = `${installedVersion(packageName)}${within}`;
      const command = "npm test";
      saveResult({ client: packageName, version, language: "TypeScript", command, checks }, paths);
    });
    beforeEach(() => record.begin());
    afterEach(() => record.end());
    define((what, run) => {
      test(what, record.define(what, run));
    });
    // After those of the checks: it does not run if one of them has failed.
    beforeAll(() => record.prepared());
  });
}

/**
 * The outcome of each check. A test cannot see whether the runtime runs only some of the tests
 * (`-t`), but the hooks show it: fewer checks begin than are defined, although everything before
 * them passed. `--bail` ends the process at the first failure without calling a hook, so such a run
 * leaves the result unchanged.
 */
class SuiteRecord {
  readonly #outcomes = new Map<string, Outcome | undefined>();
  #isPrepared = false;
  #begun = 0;
  /** The running check. One that ends after its timeout finds another here. */
  #underWay: symbol | undefined;

  define(what: string, run: () => Promise<void>): () => Promise<void> {
    if (this.#outcomes.has(what)) throw new Error(`two checks are called "${what}"`);
    this.#outcomes.set(what, undefined);
    return async () => {
      const turn = Symbol(what);
      this.#underWay = turn;
      this.#outcomes.set(what, "failed");
      await run();
      if (this.#underWay === turn) this.#outcomes.set(what, "passed");
    };
  }

  prepared(): void {
    this.#isPrepared = true;
  }

  begin(): void {
    this.#begun++;
  }

  end(): void {
    this.#underWay = undefined;
  }

  /** Undefined if only some checks were selected: the others have no outcome. */
  outcomes(): Readonly<Record<string, Outcome>> | undefined {
    if (this.#isPrepared && this.#begun < this.#outcomes.size) return undefined;
    return Object.fromEntries(
      [...this.#outcomes].map(([what, outcome]) => [what, outcome ?? "failed"]),
    );
  }
}

export function saveResult(result: ClientResult, paths = ownPaths): void {
  const others = readResults(paths).filter(({ client }) => client !== result.client);
  const results = [...others, result].toSorted(
    (a, b) => languages.indexOf(a.language) - languages.indexOf(b.language) || compare(a, b),
  );
  writeChanged(paths.results, `${JSON.stringify(results, undefined, 2)}\n`);
  writeChanged(paths.page, toPage(results));
}

export function readResults({ results } = ownPaths): readonly ClientResult[] {
  return existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : [];
}

const languages: readonly ClientResult["language"][] = ["TypeScript", "Python", "Go"];
const compare = (a: ClientResult, b: ClientResult) => (a.client < b.client ? -1 : 1);

export function toPage(results: readonly ClientResult[]): string {
  const rows = results.map((result) => {
    const all = Object.values(result.checks);
    const passed = all.filter((outcome) => outcome === "passed").length;
    const summary =
      passed === all.length ? `all ${passed} passed` : `**${passed} of ${all.length}**`;
    return `| ${result.client} | ${result.version} | ${result.language} | \`${result.command}\` | ${summary} |`;
  });
  const lists = results.map(({ client, checks }) => {
    const lines = Object.entries(checks).map(
      ([what, outcome]) => `- ${outcome === "passed" ? "" : "**failed:** "}${what}`,
    );
    return `## ${client}\n\n${lines.join("\n")}\n`;
  });
  return `# Tested clients

These clients work unchanged. Each runs against a real gateway with only its base URL and a key,
unless a line says otherwise. Behind the gateway are the embedded models or, if the exact reply
matters, recorded replies of vendors. The client tests generate this page and mark failed checks.

| client | version | language | run by | result |
|---|---|---|---|---|
${rows.join("\n")}

${lists.join("\n")}`;
}

function installedVersion(packageName: string): string {
  const path = join(root, "node_modules", packageName, "package.json");
  return String(JSON.parse(readFileSync(path, "utf8")).version);
}

function writeChanged(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
