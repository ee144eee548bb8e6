import { TextInput } from "@mantine/core";
import {
  billedClasses,
  type Endpoint,
  type InputKind,
  pricedClasses,
} from "../../../../../src/call/endpoint.ts";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { priceLabel, priceUnit } from "../../../format/prices.ts";
import classes from "./page.module.css";

/** USD by class, as typed. */
export type PriceTexts = Readonly<Record<string, string>>;

interface PriceClass {
  readonly name: string;
  readonly needed: boolean;
}

/** For a model that does not exist yet. */
export const priceClasses = (endpoint: Endpoint, input: InputKind): readonly PriceClass[] =>
  pricedClasses(endpoint, input).map((name) => ({
    name,
    needed: billedClasses(endpoint, input).includes(name),
  }));

interface PriceFieldsProps {
  readonly classes: readonly PriceClass[];
  readonly texts: PriceTexts;
  readonly onEdit: (texts: PriceTexts) => void;
  readonly problem: ApiProblem | null;
  /** What stands before a class in the name of a problem's field: `cost.`. */
  readonly prefix?: string;
  /** A part of a form can be left empty as a whole. */
  readonly isOptional?: boolean;
  readonly hasFocus?: boolean;
  /** Required fields that are empty say so. */
  readonly isChecked?: boolean;
}

/** One field per class that a model is priced by. */
export function PriceFields(props: PriceFieldsProps) {
  const { texts, onEdit, problem, prefix = "", isOptional = false, hasFocus = false } = props;
  const lacking = props.isChecked === true ? lackingClasses(props.classes, texts) : [];
  return (
    <div className={classes["fields"]}>
      {props.classes.map(({ name, needed }, at) => (
        <TextInput
          key={name}
          label={`${priceLabel(name)}, USD ${priceUnit(name)}`}
          {...(isOptional || lacking.includes(name)
            ? {}
            : { description: needed ? "Enter 0 for free" : "Defaults to the input price" })}
          inputMode="decimal"
          required={needed && !isOptional}
          data-autofocus={hasFocus && at === 0 ? true : undefined}
          value={texts[name] ?? ""}
          onChange={(event) => onEdit({ ...texts, [name]: event.currentTarget.value })}
          error={
            amountError(texts[name]) ??
            (lacking.includes(name) ? missingAmount : fieldError(problem, `${prefix}${name}`))
          }
          // Errors stand above the inputs, which stay in line.
          inputWrapperOrder={["label", "description", "error", "input"]}
        />
      ))}
    </div>
  );
}

const missingAmount = "Enter an amount, or 0 for free.";

/** Without these the price is not whole. */
export const lackingClasses = (given: readonly PriceClass[], texts: PriceTexts) =>
  given
    .filter(({ name, needed }) => needed && (texts[name] ?? "").trim() === "")
    .map(({ name }) => name);

/** Said of every field at once, before the platform is asked. */
export function amountError(text = ""): string | undefined {
  const amount = text.trim();
  if (amount === "" || /^\d{1,15}(\.\d{1,18})?$/.test(amount)) return undefined;
  return "Enter an amount in USD such as 2.50, without a currency sign or comma.";
}

/** Without the classes that are left empty. */
export const filledTexts = (texts: PriceTexts): PriceTexts =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text !== ""),
  );
