import { audioCases } from "./audio-cases.ts";
import { dialectCases } from "./dialect-cases.ts";
import { httpCases } from "./http-cases.ts";
import { jsonCases } from "./json-cases.ts";
import { mediaCases } from "./media-cases.ts";
import { platformCases } from "./platform-cases.ts";
import type { StallCase } from "./stall-case.ts";
import { textCases } from "./text-cases.ts";
import { upstreamCases } from "./upstream-cases.ts";
import { vendorCases } from "./vendor-cases.ts";

/** All worst cases. A new way to keep the process busy is a new entry in one of these lists. */
export const corpus: readonly StallCase[] = [
  ...textCases,
  ...jsonCases,
  ...mediaCases,
  ...audioCases,
  ...httpCases,
  ...platformCases,
  ...upstreamCases,
  ...vendorCases,
  ...dialectCases,
];
