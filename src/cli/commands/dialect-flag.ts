import { invalid } from "../../base/problem.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import { type Dialect, dialects } from "../../call/dialect.ts";

export const dialectFlag = {
  about: `only calls to chat models in this API format: ${eitherOf(dialects)}`,
  value: "D",
  choices: dialects,
} as const;

export function readDialect(text: string | undefined): Dialect | undefined {
  if (text === undefined) return undefined;
  const dialect = dialects.find((known) => known === text);
  if (dialect !== undefined) return dialect;
  throw invalid({ dialect: `dialect must be ${eitherOf(dialects)}, not "${text}".` });
}
