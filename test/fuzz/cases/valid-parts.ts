import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { promptMark } from "./odd-values.ts";
import { sentence } from "./words.ts";

/** The field that a refusal names, and a value for the outermost field of it. */
export type Wrong = readonly [param: string, value: FuzzJson];

export const png = Buffer.from(fixtureBytes("tiny.png")).toString("base64");

export const said = (dice: Dice): string => `${promptMark} ${sentence(dice)}`;

/** Some of the fields. */
export function maybe(dice: Dice, fields: FuzzBody): FuzzBody {
  return Object.fromEntries(Object.entries(fields).filter(() => dice.percent(30)));
}

/** The body with this one field wrong. */
export function withWrong(body: FuzzBody, [param, value]: Wrong): FuzzBody {
  const [field = ""] = param.split(/[.[]/, 1);
  return { ...body, [field]: value };
}
