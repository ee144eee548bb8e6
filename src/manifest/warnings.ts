import type { Price } from "../call/price.ts";
import { type Model, type ProviderEntry, usualOutputTokens } from "../catalog/model.ts";

/** A warning about a valid entry. */
export interface Warning {
  readonly kind: "missing_variable" | "not_served" | "no_output_limit";
  /** The name of the provider, or the id of the model. */
  readonly subject: string;
  readonly message: string;
}

export function providerWarnings(
  { name, apiKey, options = {} }: ProviderEntry,
  hasVariable: (name: string) => boolean,
): readonly Warning[] {
  return [apiKey, ...Object.values(options)].flatMap((stored): readonly Warning[] =>
    stored === undefined || !("variable" in stored) || hasVariable(stored.variable)
      ? []
      : [
          {
            kind: "missing_variable",
            subject: name,
            message: `provider ${name}: ${stored.variable} is not set in the gateway's environment, so calls will fail`,
          },
        ],
  );
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
