import { Button, Checkbox, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { DialogBody, useDialog, useUnsaved } from "../../../components/form/dialog.tsx";
import { DialogFooter } from "../../../components/form/form-dialog.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { useApi, useChange } from "../../../queries.ts";
import classes from "./page.module.css";

type Plan = Reply<"GET /api/prices/import">;

interface Wish {
  readonly markup: string;
  readonly replace: boolean;
}

const priceWords = (count: number) => `${count} ${count === 1 ? "price" : "prices"}`;

/** Shows a preview before the import. */
export function ImportPrices() {
  const dialog = useDialog();
  const [markup, setMarkup] = useState("0");
  const [replace, setReplace] = useState(false);
  const [asked, setAsked] = useState<Wish>();
  const plan = useApi(
    "GET /api/prices/import",
    { query: asked ?? {} },
    { enabled: asked !== undefined },
  );
  const make = useChange("POST /api/prices/import", {
    onDone: ({ set }) => {
      say(`Imported ${priceWords(set.length)}.`);
      dialog?.close();
    },
  });
  useUnsaved(!make.isSuccess && (markup !== "0" || replace));
  const isShown = asked?.markup === markup.trim() && asked.replace === replace;
  return (
    <DialogBody title="Import list prices">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setAsked({ markup: markup.trim(), replace });
        }}
      >
        <Stack gap="md">
          <div className={classes.pair}>
            <TextInput
              label="Markup in percent"
              description="Added to the vendor's list price for callers. Route costs stay at list price."
              inputMode="decimal"
              required
              data-autofocus
              value={markup}
              onChange={(event) => setMarkup(event.currentTarget.value)}
              error={fieldError(plan.error, "markup")}
            />
            <Checkbox
              label="Replace existing prices and costs"
              description="Otherwise, only missing prices and costs are set."
              checked={replace}
              onChange={(event) => setReplace(event.currentTarget.checked)}
            />
          </div>
          <FormProblem problem={plan.error} fields={["markup"]} />
          {asked !== undefined && plan.isFetching && (
            <Loading lines={3} label="Looking up prices" />
          )}
          {isShown && plan.data !== undefined && !plan.isFetching && <PlanView plan={plan.data} />}
          <ErrorNotice problem={make.error} />
          <DialogFooter>
            <Button variant="default" onClick={dialog?.close}>
              Cancel
            </Button>
            {isShown && plan.data !== undefined ? (
              <Button
                disabled={plan.data.set.length === 0}
                loading={make.isPending}
                onClick={() => make.mutate({ body: asked })}
              >
                Import {priceWords(plan.data.set.length)}
              </Button>
            ) : (
              <Button type="submit">Preview</Button>
            )}
          </DialogFooter>
        </Stack>
      </form>
    </DialogBody>
  );
}

function PlanView({ plan }: { readonly plan: Plan }) {
  const reasons = [...plan.unknown, ...plan.left];
  return (
    <>
      <h3 className={classes.heading}>
        {plan.set.length === 0 ? "No changes" : "Preview. Nothing has changed yet."}
      </h3>
      {plan.set.length > 0 && (
        // A scrolling region must be reachable by keyboard.
        <div className={classes.plan} tabIndex={0} role="region" aria-label="Prices to import">
          <DataTable
            caption="Prices to import"
            columns={columns}
            rows={plan.set}
            rowKey={({ model, route }) => `${model} ${route ?? ""}`}
          />
        </div>
      )}
      {plan.notes.length > 0 && (
        <Reasons
          title="Notes"
          lines={plan.notes.map(({ model, route, note }) => `${route ?? model}: ${note}`)}
        />
      )}
      {reasons.length > 0 && (
        <Reasons
          title={`Unchanged (${reasons.length})`}
          lines={reasons.map(
            ({ model, route, reason }) =>
              `${model}${route === null ? "" : `, cost of ${route}`}: ${reason}`,
          )}
        />
      )}
    </>
  );
}

function Reasons({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  return (
    <details>
      <summary>{title}</summary>
      <ul className={classes.reasons}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}

const columns: readonly Column<Plan["set"][number]>[] = [
  {
    header: "For",
    cell: ({ model, route }) => (
      <span className="lines">
        {model}
        <small>{route === null ? "Price for callers" : `Cost of ${route}`}</small>
      </span>
    ),
  },
  { header: "Price", cell: ({ price }) => <PriceTags price={price} /> },
  { header: "Source", cell: ({ source }) => <code>{source}</code>, isExtra: true },
];
