import { invalid } from "../base/problem.ts";

export const streams = ["receipts", "audit"] as const;
export type Stream = (typeof streams)[number];

export const formats = ["jsonl"] as const;
export type Format = (typeof formats)[number];

/** A directory of the machine that exports. It must exist: what was not mounted is not filled. */
export interface FileTarget {
  readonly kind: "file";
  readonly dir: string;
}

export type Target = FileTarget;

/** Where receipts and audit records go. Secrets are not part of it. */
export interface Destination {
  readonly id: string;
  readonly name: string;
  readonly streams: readonly Stream[];
  readonly format: Format;
  readonly target: Target;
  /** Rows from before this hour are not exported. */
  readonly fromMs: number;
  readonly createdAtMs: number;
  readonly pausedAtMs: number | undefined;
}

/** Each is looked at every few seconds. */
export const mostDestinations = 8;

const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function checkName(name: string): string {
  if (nameForm.test(name)) return name;
  throw invalid({
    name: `name must be 1 to 40 lowercase letters, digits and hyphens, such as "warehouse", not "${name}".`,
  });
}

export function readStreams(text: string | undefined): readonly Stream[] {
  if (text === undefined) return streams;
  const named = text.split(",").map((word) => word.trim());
  const unknown = named.find((word) => !streams.some((known) => known === word));
  if (unknown !== undefined)
    throw invalid({ what: `what must be receipts, audit or both with a comma, not "${unknown}".` });
  return streams.filter((stream) => named.includes(stream));
}

export function readFormat(text: string | undefined): Format {
  const format = formats.find((known) => known === (text ?? "jsonl"));
  if (format === undefined) throw invalid({ format: `format must be jsonl, not "${text}".` });
  return format;
}

/** As an operator gives it. */
export interface TargetInput {
  readonly to: string;
}

export function readTarget({ to }: TargetInput): Target {
  const url = URL.parse(to);
  if (url?.protocol === "file:") return readFile(url);
  throw invalid({
    to: "to must be a directory as file:///var/exports.",
  });
}

function readFile(url: URL): FileTarget {
  if (url.host !== "" || url.search !== "" || url.hash !== "" || url.pathname === "/")
    throw invalid({ to: "to must name a directory with its whole path: file:///var/exports." });
  try {
    return { kind: "file", dir: decodeURIComponent(url.pathname).replace(/\/+$/, "") };
  } catch {
    throw invalid({ to: "to has a percent sign that encodes nothing. Write it as %25." });
  }
}

/** What was set beside the address. */
export function targetSettings(_target: Target): Readonly<Record<string, string | boolean>> {
  return {};
}

/** As it was given; it has no secrets. */
export function targetText(target: Target): string {
  return new URL(`file://${target.dir.split("/").map(encodeURIComponent).join("/")}`).href;
}
