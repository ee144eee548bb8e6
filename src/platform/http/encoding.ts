export type Encoding = "br" | "gzip";

/**
 * The better of what is there and what the client takes. A weight of 0 is a refusal, and `*`
 * stands for all that is not named.
 */
export function chooseEncoding(accepted: string | null): Encoding | undefined {
  const weightOf = weightsIn(accepted);
  const br = weightOf("br");
  const gzip = weightOf("gzip");
  if (br === 0 && gzip === 0) return undefined;
  return br >= gzip ? "br" : "gzip";
}

/** For what is packed as it is sent. */
export const takesGzip = (accepted: string | null) => weightsIn(accepted)("gzip") > 0;

function weightsIn(accepted: string | null): (name: string) => number {
  if (accepted === null) return () => 0;
  const weights = new Map(accepted.toLowerCase().split(",").map(toWeight));
  return (name) => weights.get(name) ?? weights.get("*") ?? 0;
}

function toWeight(item: string): [string, number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  const given = weight === undefined ? 1 : Number(weight.slice(2));
  return [name, given >= 0 && given <= 1 ? given : 0];
}
