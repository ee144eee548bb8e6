import { NativeSelect, TextInput } from "@mantine/core";
import { markupFactor } from "../../../../../../src/call/markup.ts";
import type { ApiProblem } from "../../../../api.ts";
import { fieldError } from "../../../../components/feedback/form-problem.tsx";
import { type CountedKind, PriceGroups } from "../../prices/price-groups.tsx";
import type { Pricing } from "./pricing.ts";
import classes from "./serve.module.css";

export const markupWords = ({ mode, markup }: Pricing) =>
  mode === "markup" && markupFactor(markup.trim()) === undefined
    ? "Enter a percentage such as 20 or 12.5."
    : undefined;

export const modeLabels = {
  list: "List price",
  markup: "List price + markup",
  one: "One price",
  free: "Free",
} as const;

const modes = ["list", "markup", "one", "free"] as const;

interface PricingFieldsProps {
  readonly usual: Pricing;
  readonly onChange: (usual: Pricing) => void;
  /** Of the models that have this price. */
  readonly kinds: readonly CountedKind[];
  /** Required fields that are empty say so. */
  readonly isChecked: boolean;
  /** With fields such as `markup` and `chat.input`. */
  readonly problem: ApiProblem | null;
}

/** How models are priced that do not say otherwise. */
export function PricingFields(props: PricingFieldsProps) {
  const { usual, onChange, kinds, isChecked, problem } = props;
  const { mode, markup, prices } = usual;
  return (
    <>
      <div className={classes["top"]}>
        <NativeSelect
          label="Price for all"
          value={mode}
          onChange={(event) => {
            const { value } = event.currentTarget;
            onChange({ ...usual, mode: modes.find((one) => one === value) ?? "list" });
          }}
          data={modes.map((value) => ({ value, label: modeLabels[value] }))}
        />
        {mode === "markup" && (
          <TextInput
            label="Markup in percent"
            inputMode="decimal"
            value={markup}
            onChange={(event) => onChange({ ...usual, markup: event.currentTarget.value })}
            error={markupWords(usual) ?? fieldError(problem, "markup")}
          />
        )}
      </div>
      {mode === "one" && (
        <PriceGroups
          kinds={kinds}
          texts={prices}
          onEdit={(texts) => onChange({ ...usual, prices: texts })}
          isChecked={isChecked}
          problem={problem}
          prefixOf={({ name }) => `${name}.`}
        />
      )}
    </>
  );
}
