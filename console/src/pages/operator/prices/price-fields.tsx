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
}

/** One field per class that a model is priced by. */
export function PriceFields(props: PriceFieldsProps) {
  const { texts, onEdit, problem, prefix = "", isOptional = false, hasFocus = false } = props;
  return (
    <div className={classes["pair"]}>
      {props.classes.map(({ name, needed }, at) => (
        <TextInput
          key={name}
          label={`${priceLabel(name)}, USD ${priceUnit(name)}`}
          {...(isOptional
            ? {}
            : { description: needed ? "Enter 0 for free" : "Defaults to the input price" })}
          inputMode="decimal"
          required={needed && !isOptional}
          data-autofocus={hasFocus && at === 0 ? true : undefined}
          value={texts[name] ?? ""}
          onChange={(event) => onEdit({ ...texts, [name]: event.currentTarget.value })}
          error={fieldError(problem, `${prefix}${name}`)}
        />
      ))}
    </div>
  );
}

/** Without the classes that are left empty. */
export const filledTexts = (texts: PriceTexts): PriceTexts =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text !== ""),
  );
