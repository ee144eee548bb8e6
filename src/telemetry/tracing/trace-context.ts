import { randomBytes } from "node:crypto";

/** What a caller's headers say of the trace that its request belongs to. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The header tracestate, passed on as it came. */
  readonly state: string | undefined;
}

const parentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;
const noId = /^0+$/;
const longestHeader = 512;

/** By the W3C's Trace Context. A header that breaks its rules counts as none: a trace begins here. */
export function readTraceParent(headers: Headers): TraceParent | undefined {
  const text = headers.get("traceparent");
  if (text === null || text.length > longestHeader) return undefined;
  const match = parentForm.exec(text);
  if (match === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", further] = match;
  // Later versions may add fields behind the known ones; version ff is none.
  if (version === "ff" || (version === "00" && further !== undefined)) return undefined;
  if (noId.test(traceId) || noId.test(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, state: readState(headers.get("tracestate")) };
}

const memberForm = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}$/;
const mostMembers = 32;

function readState(text: string | null): string | undefined {
  if (text === null || text.length > longestHeader) return undefined;
  const members = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  if (members.length === 0 || members.length > mostMembers) return undefined;
  return members.every((member) => memberForm.test(member)) ? members.join(",") : undefined;
}

const poolBytes = 4_096;
let pool = "";
let poolAt = 0;

/** Random hexadecimal digits: 32 for a trace, 16 for a span. */
export function newHexId(digits: 16 | 32): string {
  if (poolAt + digits > pool.length) {
    pool = randomBytes(poolBytes).toString("hex");
    poolAt = 0;
  }
  poolAt += digits;
  return pool.slice(poolAt - digits, poolAt);
}
