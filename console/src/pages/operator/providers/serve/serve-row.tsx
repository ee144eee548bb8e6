import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { memo } from "react";
import type { ApiProblem } from "../../../../api.ts";
import { fieldError } from "../../../../components/feedback/form-problem.tsx";
import { PriceTags } from "../../../../components/money/price-tags.tsx";
import { isShiftHeld } from "../../../../components/table/row-range.ts";
import { KindFields } from "../../catalog/kind-fields.tsx";
import { PriceFields, priceClasses } from "../../prices/price-fields.tsx";
import type { Click } from "./choice.ts";
import {
  type Pricing,
  type PricingMode,
  type Proposal,
  pricingModes,
  type RowChange,
  shownPrice,
  useOfRow,
} from "./pricing.ts";
import { modeLabels } from "./pricing-fields.tsx";
import classes from "./serve.module.css";

const unchanged: RowChange = {};

interface ServeRowProps {
  readonly proposal: Proposal;
  readonly isChosen: boolean;
  readonly isOpen: boolean;
  readonly change?: RowChange | undefined;
  readonly usual: Pricing;
  /** With fields as this row names them. */
  readonly problem: ApiProblem | null;
  /** Required fields that are empty say so. */
  readonly isChecked: boolean;
  readonly onChoose: (upstream: string, click: Click) => void;
  readonly onOpen: (upstream: string) => void;
  readonly onEdit: (upstream: string, change: RowChange) => void;
}

/** One offered model. A list may have hundreds: fields are drawn only where they are asked for. */
export const ServeRow = memo(function ServeRow(props: ServeRowProps) {
  const { proposal, isChosen, isOpen, usual, onChoose, onOpen } = props;
  const { change = unchanged } = props;
  const { upstream, note } = proposal;
  const id = change.id ?? proposal.id;
  const { endpoint, input } = useOfRow(proposal, change);
  const price = shownPrice(proposal, change, usual);
  return (
    <li className={classes["row"]} data-open={isOpen}>
      <div className={classes["head"]}>
        <Checkbox
          className={classes["name"]}
          checked={isChosen}
          onChange={(event) =>
            onChoose(upstream, {
              isChosen: event.currentTarget.checked,
              isRange: isShiftHeld(event),
            })
          }
          label={id === "" ? upstream : id}
          description={
            <>
              {endpoint === "embeddings" ? `${input} embeddings` : endpoint}
              {id !== upstream && ` · upstream ${upstream}`}
            </>
          }
        />
        <span className={classes["price"]} data-lacking={price === null}>
          <PriceTags price={price} none="Needs price" />
        </span>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Close" : "Edit"} ${upstream}`}
          onClick={() => onOpen(upstream)}
        >
          {isOpen ? "Close" : "Edit"}
        </Button>
      </div>
      {isOpen && (
        <>
          {note !== null && <p className={classes["note"]}>{note}</p>}
          <RowFields {...props} change={change} />
        </>
      )}
    </li>
  );
});

const rowModeLabels: Readonly<Record<PricingMode, string>> = { ...modeLabels, own: "Own price" };

function RowFields(props: ServeRowProps & { readonly change: RowChange }) {
  const { proposal, change, usual, problem } = props;
  const { upstream } = proposal;
  const edit = (part: RowChange) => props.onEdit(upstream, { ...change, ...part });
  const use = useOfRow(proposal, change);
  const setMode = (value: string) => {
    const { mode: _, ...rest } = change;
    const mode = pricingModes.find((one) => one === value);
    props.onEdit(upstream, mode === undefined ? rest : { ...rest, mode });
  };
  return (
    <div className={classes["fields"]}>
      <TextInput
        label="ID for callers"
        maxLength={128}
        value={change.id ?? proposal.id}
        onChange={(event) => edit({ id: event.currentTarget.value })}
        error={fieldError(problem, "id")}
      />
      <KindFields kind={use} onEdit={edit} problem={problem}>
        <NativeSelect
          label="Price"
          value={change.mode ?? ""}
          onChange={(event) => setMode(event.currentTarget.value)}
          data={[
            { value: "", label: `As for all (${modeLabels[usual.mode].toLowerCase()})` },
            ...pricingModes.map((value) => ({ value, label: rowModeLabels[value] })),
          ]}
        />
        {change.mode === "markup" && (
          <TextInput
            label="Markup in percent"
            inputMode="decimal"
            value={change.markup ?? usual.markup}
            onChange={(event) => edit({ markup: event.currentTarget.value })}
            error={fieldError(problem, "markup")}
          />
        )}
      </KindFields>
      {change.mode === "own" && (
        <PriceFields
          classes={priceClasses(use.endpoint, use.input)}
          texts={change.price ?? {}}
          onEdit={(price) => edit({ price })}
          isChecked={props.isChecked}
          problem={problem}
          prefix="price."
        />
      )}
    </div>
  );
}
