/** Signs that are said, and those that are not. */
import { type Rule, rule } from "./rules.ts";

const said: Readonly<Record<string, string>> = {
  "&": "and",
  "+": "plus",
  "=": "equals",
  "≠": "is not equal to",
  "<": "less than",
  ">": "greater than",
  "≤": "less than or equal to",
  "≥": "greater than or equal to",
  "≈": "approximately",
  "±": "plus or minus",
  "×": "times",
  "÷": "divided by",
  "√": "square root of",
  "∞": "infinity",
  "%": "percent",
  "@": "at",
  "#": "number",
  "©": "copyright",
  "§": "section",
  "°": "degrees",
  "\\": "backslash",
  "£": "pounds",
  "€": "euros",
  $: "dollars",
};

const greek: Readonly<Record<string, string>> = Object.fromEntries(
  "α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda µ mu μ mu ν nu ξ xi π pie ρ row σ sigma τ taw φ fie χ kie ψ sigh ω omega Δ delta Σ sigma Ω omega Π pie Φ fie Ψ sigh Γ gamma Λ lambda Θ theta"
    .split(" ")
    .reduce<[string, string][]>((pairs, item, index, all) => {
      if (index % 2 === 0) pairs.push([item, all[index + 1] ?? ""]);
      return pairs;
    }, []),
);

const signs = Object.keys(said).join("").replace("\\", "\\\\");

export const symbolRules: readonly Rule[] = [
  // A row of one sign is an ornament.
  rule(/([=*_#~+<>|\\/@&%$^-])\1{2,}/gu, () => " "),
  rule(/=>|->|→|⇒|←|<-/gu, () => ", "),
  rule(/==+/gu, () => " equals "),
  rule(/!=/gu, () => " is not equal to "),
  rule(/&&/gu, () => " and "),
  rule(/(?<=\d)\s?\*\s?(?=\d)/gu, () => " times "),
  rule(/(?<!\w)~\s?(?=[\d$€£])/gu, () => "about "),
];

/** After the numbers, when a slash or a sign has no number to belong to. */
export const leftoverRules: readonly Rule[] = [
  rule(/(?<=[A-Za-z0-9)])²/gu, () => " squared"),
  rule(/(?<=[A-Za-z0-9)])³/gu, () => " cubed"),
  rule(/(?<=[A-Za-z])\s?\/\s?(?=[A-Za-z])/gu, () => " slash "),
  rule(/[α-ωµΔΣΩΠΦΨΓΛΘ]/gu, (_, { text, before, after }) =>
    /[\u0370-\u03ff]$/u.test(before) || /^[\u0370-\u03ff]/u.test(after)
      ? undefined
      : ` ${greek[text] ?? ""} `,
  ),
  rule(new RegExp(`[${signs}]`, "gu"), (_, { text }) => ` ${said[text] ?? ""} `),
];
