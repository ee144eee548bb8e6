import { optionalFields, type Quirks } from "../../call/quirks.ts";

/** What becomes of one request field that does not go as it is. */
export interface FieldRule {
  readonly name: string;
  /** Its name there; undefined: it is left out. */
  readonly to: string | undefined;
  /** The one value that goes on; any other is left out. */
  readonly only: string | undefined;
}

/**
 * Every other tier costs more or less than the price of the model. `default` can only keep a call
 * from a dearer tier that the operator's account has set.
 */
const pricedTier = "default";

/** The rules of a server's request fields, made once: a request looks at these names alone. */
export function toFieldRules({ takes = [], renames = {}, drops = [] }: Quirks) {
  const rules: FieldRule[] = [];
  for (const name of optionalFields)
    if (!takes.includes(name)) rules.push({ name, to: undefined, only: undefined });
  for (const name of drops) rules.push({ name, to: undefined, only: undefined });
  for (const [name, to] of Object.entries(renames)) rules.push({ name, to, only: undefined });
  if (takes.includes("service_tier"))
    rules.push({ name: "service_tier", to: undefined, only: pricedTier });
  return rules;
}
