import { removedKind, removedKindWords } from "../base/removed-kind.ts";
import type { Price } from "../call/price.ts";
import {
  type Model,
  type ProviderEntry,
  type StoredOption,
  usualOutputTokens,
} from "../catalog/model.ts";
import { keysOf } from "../catalog/provider-keys.ts";

/** A warning about a valid entry. */
export interface Warning {
  readonly kind: "removed_kind" | "missing_variable" | "not_served" | "no_output_limit";
  /** The name of the provider, or the id of the model. */
  readonly subject: string;
  readonly message: string;
}

export function providerWarnings(
  entry: ProviderEntry,
  hasVariable: (name: string) => boolean,
): readonly Warning[] {
  const { name, kind, options = {} } = entry;
  if (kind === removedKind) {
    const { what, advice } = removedKindWords;
    const message = `provider ${name}: ${what}, so calls will fail. ${advice}`;
    return [{ kind: "removed_kind", subject: name, message }];
  }
  const keys = keysOf(entry);
  const lacks = (stored: StoredOption) => "variable" in stored && !hasVariable(stored.variable);
  const lacking = keys.filter(({ secret }) => lacks(secret));
  const isServed = lacking.length < keys.length;
  const toWarning = (stored: StoredOption, then: string): readonly Warning[] =>
    "variable" in stored
      ? [
          {
            kind: "missing_variable",
            subject: name,
            message: `provider ${name}: ${absence(stored.variable)}, so ${then}`,
          },
        ]
      : [];
  return [
    ...lacking.flatMap((key) =>
      toWarning(key.secret, isServed ? `key ${key.name} is not used` : "calls will fail"),
    ),
    ...Object.values(options)
      .filter(lacks)
      .flatMap((stored) => toWarning(stored, "calls will fail")),
  ];
}

export function modelWarnings(model: Model, price: Price | undefined): readonly Warning[] {
  const { id, endpoint, routes, maxOutputTokens } = model;
  const lacking = [price === undefined ? "price" : "", routes.length === 0 ? "route" : ""].filter(
    (word) => word !== "",
  );
  if (lacking.length > 0)
    return [
      {
        kind: "not_served",
        subject: id,
        message: `model ${id} has no ${lacking.join(" and no ")}, so it is not listed and cannot be called`,
      },
    ];
  if (endpoint !== "chat" || maxOutputTokens !== undefined || price?.output === 0n) return [];
  return [
    {
      kind: "no_output_limit",
      subject: id,
      message: `model ${id} has no max_output_tokens, so replies to requests without a limit end after ${usualOutputTokens} tokens`,
    },
  ];
}

/** The log of each process has what is wrong there. The words of a command may be secret. */
function absence(reference: string): string {
  if (reference.startsWith("file:"))
    return `the file ${reference.slice("file:".length)} is missing or cannot be used on this machine`;
  if (reference.startsWith("command:"))
    return `the command ${reference.slice("command:".length).split(" ", 1)[0]} printed no key on this machine`;
  return `${reference} is not set in the gateway's environment`;
}
