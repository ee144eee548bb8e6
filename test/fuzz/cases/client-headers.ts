import type { Dice } from "./dice.ts";

export type Header = readonly [name: string, value: string];

/** What clients say of themselves: some of it, in any order. None of it changes an answer. */
export function clientHeaders(dice: Dice): readonly Header[] {
  const version = () => `${dice.below(9)}.${dice.below(60)}.${dice.below(30)}`;
  const hex = (digits: number) => dice.list(digits, () => dice.below(16).toString(16)).join("");
  const all: readonly (() => Header)[] = [
    () => ["user-agent", `${dice.pick(agents)}/${version()}`],
    () => ["accept", dice.pick(["application/json", "*/*", "text/event-stream"])],
    () => ["accept-language", dice.pick(["*", "de", "en-GB,en;q=0.9", "zh-CN"])],
    () => ["accept-encoding", dice.pick(["gzip, deflate", "identity", "br, gzip", "*;q=0"])],
    () => ["x-stainless-package-version", version()],
    () => ["x-stainless-os", dice.pick(["Linux", "MacOS", "Windows", "Unknown"])],
    () => ["x-stainless-retry-count", String(dice.below(4))],
    () => ["x-stainless-timeout", String(dice.between(1, 900))],
    () => ["traceparent", `00-${hex(32)}-${hex(16)}-0${dice.below(2)}`],
    () => ["openai-organization", `org-${hex(8)}`],
    () => ["cache-control", dice.pick(["no-cache", "no-store", `max-age=${dice.below(999)}`])],
  ];
  return dice.some(all, 40).map((make) => make());
}

const agents = ["OpenAI/JS", "OpenAI/Python", "curl", "Go-http-client", "okhttp", "axios"];

export function toLines(headers: readonly Header[]): string {
  return headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
}
