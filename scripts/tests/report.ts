/** Reads the JUnit report of a test run. */

import { readFileSync } from "node:fs";

export interface Failure {
  /** Undefined if no file can be named: one did not load, or the run ended early. */
  readonly file: string | undefined;
  readonly name: string;
}

export interface Report {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

export function readReport(path: string): Report {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    // The runner ended before it wrote one; its exit code shows that.
  }
  const attribute = (tag: string, name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const head = /<testsuites [^>]*>/.exec(text)?.[0] ?? "";
  const count = (name: string) => Number(attribute(head, name));
  const failed = count("failures") + count("errors");
  const failures = [...text.matchAll(/<testcase ([^>]*[^/])>\s*<(?:failure|error)/g)].map(
    ([, tag = ""]) => ({
      file: unescapeXml(attribute(` ${tag}`, "file")),
      name: unescapeXml(attribute(` ${tag}`, "name")),
    }),
  );
  return { passed: count("tests") - failed - count("skipped"), failed, failures };
}

const characters: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
};

function unescapeXml(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => characters[name] ?? "");
}
