import { Button, NativeSelect, Stack, TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Input, Reply } from "../../../api.ts";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { DialogBody, useDialog, useUnsaved } from "../../../components/form/dialog.tsx";
import { DialogFooter } from "../../../components/form/form-dialog.tsx";
import { useWrongFocus } from "../../../components/form/use-wrong-focus.ts";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { dayStartText } from "../../../format/moments.ts";
import { useChange } from "../../../queries.ts";
import classes from "./page.module.css";
import { filledTexts, priceClasses } from "./price-fields.tsx";
import {
  areWhole,
  type CountedKind,
  type KindTexts,
  kindsOf,
  PriceGroups,
} from "./price-groups.tsx";

type Entry = Reply<"GET /api/catalog">[number];
type Plan = Reply<"POST /api/prices/bulk">;
type Body = Input<"POST /api/prices/bulk">["body"];

interface Draft {
  readonly mode: "price" | "markup" | "free";
  readonly prices: KindTexts;
  readonly markup: string;
  /** Empty: now. */
  readonly from: string;
}

const words = (count: number) => `${count} ${count === 1 ? "model" : "models"}`;

const firstDraft: Draft = { mode: "markup", prices: {}, markup: "20", from: "" };

function toBody(entries: readonly Entry[], { mode, prices, markup, from }: Draft): Body {
  const kindPrices = kindsOf(entries).map(({ endpoint, input, name }) => ({
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    price: filledTexts(prices[name] ?? {}),
  }));
  return {
    models: entries.map(({ id }) => id),
    ...(mode === "price" ? { prices: kindPrices } : {}),
    ...(mode === "markup" ? { markup: markup.trim() } : {}),
    ...(mode === "free" ? { free: true } : {}),
    ...(from === "" ? {} : { from: dayStartText(from) }),
  };
}

interface BulkPricesProps {
  readonly entries: readonly Entry[];
  readonly onDone: () => void;
}

/** One change for many models, shown before it is made. */
export function BulkPrices({ entries, onDone }: BulkPricesProps) {
  const dialog = useDialog();
  const [draft, setDraft] = useState(firstDraft);
  const [isChecked, setChecked] = useState(false);
  const { root, focusWrong } = useWrongFocus<HTMLFormElement>();
  const [plan, setPlan] = useState<Plan>();
  const kinds = kindsOf(entries);
  const preview = useChange("POST /api/prices/bulk", { onDone: setPlan });
  const save = useChange("POST /api/prices/bulk", {
    onDone: ({ changes }) => {
      say(`Saved the prices of ${words(changes.length)}.`);
      onDone();
      dialog?.close();
    },
  });
  useUnsaved(!save.isSuccess && draft !== firstDraft);
  const edit = (part: Partial<Draft>) => {
    setDraft((old) => ({ ...old, ...part }));
    setPlan(undefined);
    preview.reset();
  };
  const problem = save.error ?? preview.error;
  const submit = () => {
    setChecked(true);
    if (draft.mode === "price" && !areWhole(kinds, draft.prices)) return focusWrong();
    const body = toBody(entries, draft);
    if (plan === undefined) preview.mutate({ body: { ...body, dry_run: true } });
    else save.mutate({ body });
  };
  return (
    <DialogBody title={`Set prices for ${words(entries.length)}`}>
      <form
        ref={root}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          <BulkFields
            kinds={kinds}
            draft={draft}
            onEdit={edit}
            isChecked={isChecked}
            problem={problem}
          />
          <FormProblem problem={problem} fields={["markup", "from", ...priceFieldNames(kinds)]} />
          {plan !== undefined && <PlanView plan={plan} />}
          <DialogFooter>
            <Button variant="default" onClick={dialog?.close}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={preview.isPending || save.isPending}
              disabled={plan?.changes.length === 0}
            >
              {plan === undefined ? "Preview" : `Save ${words(plan.changes.length)}`}
            </Button>
          </DialogFooter>
        </Stack>
      </form>
    </DialogBody>
  );
}

const prefixOf = (_: CountedKind, at: number) => `prices.${at}.price.`;

const priceFieldNames = (kinds: readonly CountedKind[]) =>
  kinds.flatMap((kind, at) =>
    priceClasses(kind.endpoint, kind.input).map(({ name }) => prefixOf(kind, at) + name),
  );

/** Errors stand above the inputs, which stay in line. */
const errorAbove = { inputWrapperOrder: ["label", "description", "error", "input"] } satisfies Pick<
  TextInputProps,
  "inputWrapperOrder"
>;

interface BulkFieldsProps {
  readonly kinds: readonly CountedKind[];
  readonly draft: Draft;
  readonly onEdit: (part: Partial<Draft>) => void;
  readonly isChecked: boolean;
  readonly problem: Parameters<typeof fieldError>[0];
}

function BulkFields({ kinds, draft, onEdit, isChecked, problem }: BulkFieldsProps) {
  const { mode, prices, markup, from } = draft;
  return (
    <>
      <div className={classes["pair"]}>
        <NativeSelect
          label="Price"
          data-autofocus
          value={mode}
          onChange={(event) => {
            const { value } = event.currentTarget;
            onEdit({ mode: value === "free" || value === "price" ? value : "markup" });
          }}
          data={[
            { value: "markup", label: "List price + markup" },
            {
              value: "price",
              label: kinds.length === 1 ? "One price for all" : "One price per endpoint",
            },
            { value: "free", label: "Free" },
          ]}
        />
        {mode === "markup" && (
          <TextInput
            label="Markup in percent"
            inputMode="decimal"
            required
            value={markup}
            onChange={(event) => onEdit({ markup: event.currentTarget.value })}
            error={fieldError(problem, "markup")}
            {...errorAbove}
          />
        )}
        <TextInput
          label="Effective from (default: now)"
          type="date"
          value={from}
          onChange={(event) => onEdit({ from: event.currentTarget.value })}
          error={fieldError(problem, "from")}
          {...errorAbove}
        />
      </div>
      {mode === "price" && (
        <PriceGroups
          kinds={kinds}
          texts={prices}
          onEdit={(texts) => onEdit({ prices: texts })}
          isChecked={isChecked}
          problem={problem}
          prefixOf={prefixOf}
        />
      )}
    </>
  );
}

function PlanView({ plan }: { readonly plan: Plan }) {
  const table = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Browsers may return a promise, which is no cleanup.
    void table.current?.scrollIntoView({ block: "end" });
  }, []);
  return (
    <>
      <h3 className={classes["heading"]}>
        {plan.changes.length === 0 ? "No changes" : "Preview. Nothing has changed yet."}
      </h3>
      {plan.changes.length > 0 && (
        // A scrolling region must be reachable by keyboard.
        <div
          ref={table}
          className={classes["plan"]}
          tabIndex={0}
          role="region"
          aria-label="New prices"
        >
          <DataTable
            caption="New prices"
            columns={columns}
            rows={plan.changes}
            rowKey={({ model }) => model}
          />
        </div>
      )}
      {plan.skipped.length > 0 && (
        <ul className={classes["reasons"]} aria-label="Unchanged models">
          {plan.skipped.map(({ model, reason }) => (
            <li key={model}>
              {model} {reason} and stays unchanged.
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const columns: readonly Column<Plan["changes"][number]>[] = [
  { header: "Model", cell: ({ model }) => model },
  { header: "Now", cell: ({ before }) => <PriceTags price={before} /> },
  { header: "New", cell: ({ after }) => <PriceTags price={after} /> },
];
