import type { Manifest } from "./manifest.ts";
import { storedMark } from "./plan.ts";

/** Keys that stand as `<stored>` in a text, by provider and field: they reach the store and no file. */
export type Literals = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Puts them in, as if the text held them. */
export function withLiterals(manifest: Manifest, literals: Literals): Manifest {
  const providers = manifest.providers.map((provider) => {
    const given = literals[provider.name];
    if (given === undefined) return provider;
    const { apiKey, options } = provider;
    const key = apiKey === storedMark ? (given["api_key"] ?? apiKey) : apiKey;
    const filled = Object.entries(options ?? {}).map(
      ([name, text]) => [name, text === storedMark ? (given[name] ?? text) : text] as const,
    );
    return {
      ...provider,
      ...(key === undefined ? {} : { apiKey: key }),
      ...(options === undefined ? {} : { options: Object.fromEntries(filled) }),
    };
  });
  return { ...manifest, providers };
}
