import type { Reply } from "../../../api.ts";
import { formatCount } from "../../../format/figures.ts";
import { formatUsd } from "../../../format/money.ts";

export type Details = Reply<"GET /api/accounts/:account/details">;

export type Limits = Reply<"GET /api/accounts/:account">["limits"];

/** As a form has them: empty text is no limit. */
export interface LimitTexts {
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
  readonly budget: string;
  readonly period: string;
}

export const noLimits: LimitTexts = {
  rpm: "",
  tpm: "",
  concurrency: "",
  budget: "",
  period: "month",
};

export const periods = [
  { value: "month", label: "Monthly" },
  { value: "day", label: "Daily" },
  { value: "total", label: "Never" },
];

/** A budget is USD, alone or with its period: `5`, `5/day`. */
export function fromLimits({ rpm, tpm, concurrency, budget }: Limits): LimitTexts {
  const [amount = "", period = budget === null ? "month" : "total"] = budget?.split("/") ?? [];
  return { rpm: rpm ?? "", tpm: tpm ?? "", concurrency: concurrency ?? "", budget: amount, period };
}

/** As the API expects it: an empty field removes the limit. */
export function toLimitFields({ rpm, tpm, concurrency, budget, period }: LimitTexts) {
  const or = (text: string) => (text.trim() === "" ? "none" : text.trim());
  const amount = or(budget);
  return {
    rpm: or(rpm),
    tpm: or(tpm),
    concurrency: or(concurrency),
    budget: amount === "none" || period === "total" ? amount : `${amount}/${period}`,
  };
}

/** One short text per limit. */
export function limitWords({ rpm, tpm, concurrency, budget }: Limits): readonly string[] {
  const count = (text: string, thing: string) =>
    `${formatCount(Number(text))} ${thing}${text === "1" ? "" : "s"} per minute`;
  const [amount = "", period] = budget?.split("/") ?? [];
  return [
    ...(rpm === null ? [] : [count(rpm, "request")]),
    ...(tpm === null ? [] : [count(tpm, "token")]),
    ...(concurrency === null
      ? []
      : [
          `${formatCount(Number(concurrency))} concurrent ${concurrency === "1" ? "request" : "requests"}`,
        ]),
    ...(budget === null
      ? []
      : [`${formatUsd(amount)} ${period === undefined ? "in total" : `per ${period}`}`]),
  ];
}
