import type { Dice } from "./dice.ts";
import { modelWords } from "./words.ts";

/** Ids of models as they may stand in a path: real ones, odd ones, and made-up ones. */
export function modelId(dice: Dice): string {
  if (dice.percent(15)) return dice.pick(oddModelIds);
  return dice.list(dice.between(1, 4), () => segment(dice)).join(dice.pick(["-", "/", "%2F", "."]));
}

/** A path that leads to nothing of ours. */
export function unknownPath(dice: Dice): string {
  if (dice.percent(15)) return dice.pick(unknownPaths);
  const segments = dice.list(dice.between(1, 5), () => segment(dice));
  const query = dice.percent(30) ? `?${segment(dice)}=${segment(dice)}` : "";
  const end = dice.pick(["", "", "/", ".json"]);
  // The first word of ours comes with a letter too many, so that no path of ours is met by chance.
  return `${dice.pick(starts)}x${segments.join("/")}${end}${query}`;
}

function segment(dice: Dice): string {
  return dice.weighted<() => string>([
    [6, () => dice.pick(modelWords)],
    [2, () => dice.pick(oddSegments)],
    [3, () => String(dice.below(100_000))],
    [2, () => dice.list(dice.between(1, 12), () => escaped(dice.below(256))).join("")],
    [1, () => dice.pick(modelWords).repeat(dice.between(2, 300))],
  ])();
}

const escaped = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;

const starts = [
  "/",
  "/v1/",
  "/v2/",
  "/v1/chat/",
  "/v1/audio/",
  "/api/",
  "/admin/",
  "/v1/chat/completions/",
];
/** No steps, neither up nor in place: those could lead to a path of ours. */
const oddSegments = ["%00", "%zz", "%", ";", "__proto__", "a;b=c", "~", "*", "'", "%c3%28"];

const oddModelIds: readonly string[] = [
  "svc-3-flash",
  "vendor%2Fwith-slash",
  "vendor/with-slash",
  "vendor%252Fwith-slash",
  "unpriced",
  "unrouted",
  "__proto__",
  "constructor",
  "%",
  "%zz",
  "%00",
  "%0d%0ax-injected:%20yes",
  "%ed%a0%80",
  "%c3%28",
  "%f0%9f%91%8b",
  "..%2f..%2fetc%2fpasswd",
  "a?b=c",
  "a;b",
  "%20",
  "a".repeat(5_000),
  "%25".repeat(1_000),
  "svc-3-flash?x=%zz",
  "svc-3-flash/",
  "\u00e9\u00ff",
  "<script>",
  '"',
];

const unknownPaths: readonly string[] = [
  "/",
  "/v1",
  "/v1/",
  "/v2/models",
  "/v1/chat",
  "/v1/batches",
  "/v1/edits",
  "/V1/MODELS",
  "/v1/%6dodels",
  "/v1%2fmodels",
  "/admin",
  "/metrics",
  "/api/accounts",
  "/console",
  "/.env",
  "/v1/chat/completions/x",
  "/v1/embeddings%00",
  "/v1/audio/speech;x",
  "/__proto__",
  "/constructor",
  "/hasOwnProperty",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/?__proto__[x]=1",
  `/${"a/".repeat(2_000)}`,
  `/${"%00".repeat(500)}`,
];
