import { Button, Checkbox, Stack, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useDeferredValue, useMemo, useState } from "react";
import { ErrorNotice } from "../../../../components/feedback/error-notice.tsx";
import { say } from "../../../../components/feedback/toasts.tsx";
import { useDialog, useUnsaved } from "../../../../components/form/dialog.tsx";
import { DialogFooter } from "../../../../components/form/form-dialog.tsx";
import { useWrongFocus } from "../../../../components/form/use-wrong-focus.ts";
import { withRows } from "../../../../components/table/row-range.ts";
import { hasWords } from "../../../../format/find-words.ts";
import { useChange } from "../../../../queries.ts";
import { areWhole, kindsOf } from "../../prices/price-groups.tsx";
import { useChoice } from "./choice.ts";
import {
  firstPricing,
  lacksAmount,
  type Proposal,
  type RowChange,
  shownPrice,
  toServed,
  useOfRow,
} from "./pricing.ts";
import { markupWords, PricingFields } from "./pricing-fields.tsx";
import { type PlacedProblem, placeProblem } from "./problems.ts";
import classes from "./serve.module.css";
import { ServeRow } from "./serve-row.tsx";
import { NoMatch, Unsupported } from "./unsupported.tsx";

interface ServeFormProps {
  readonly name: string;
  readonly proposals: readonly Proposal[];
  /** Names of offered models that cannot be served. */
  readonly unsupported: readonly string[];
}

const words = (count: number) => `${count} ${count === 1 ? "model" : "models"}`;
const needWords = (count: number) => (count === 1 ? "1 needs a price" : `${count} need a price`);

/** Choose, price and save: from connected to serving in one step. */
export function ServeForm({ name, proposals, unsupported }: ServeFormProps) {
  const dialog = useDialog();
  const { find, setFind, wanted, shown } = useFound(proposals);
  const draft = useDraft(proposals, shown);
  const { usual, picked, changeOf, kinds, chosen } = draft;
  const [isChecked, setChecked] = useState(false);
  const { root, focusWrong } = useWrongFocus<HTMLDivElement>();
  const serve = useChange("POST /api/providers/:name/models", {
    onDone: ({ served, needs_price: unpriced }) => {
      const need = unpriced.length === 0 ? "" : `; ${needWords(unpriced.length)}`;
      say(`Added ${words(served.length)}${need}.`);
      dialog?.close();
    },
  });
  useUnsaved(!serve.isSuccess && draft.isBegun);
  const { forAll, inRow, elsewhere } = placeProblem(serve.error, picked, changeOf);
  const save = () => {
    setChecked(true);
    const wrong = picked.find((one) => lacksAmount(one, changeOf(one)));
    if (wrong !== undefined) {
      if (!shown.includes(wrong)) setFind("");
      draft.setOpen(wrong.upstream);
    }
    const isWhole = usual.mode !== "one" || areWhole(kinds, usual.prices);
    if (wrong !== undefined || !isWhole) return focusWrong();
    const models = picked.map((one) => toServed(one, changeOf(one), usual));
    serve.mutate({ params: { name }, body: { models } });
  };
  return (
    <Stack gap="md" ref={root}>
      <PricingFields
        usual={usual}
        onChange={draft.setUsual}
        kinds={kinds.length === 0 ? kindsOf(proposals).slice(0, 1) : kinds}
        isChecked={isChecked && kinds.length > 0}
        problem={forAll}
      />
      <ChoiceBar
        find={find}
        onFind={setFind}
        shown={shown}
        chosen={chosen}
        onChoose={draft.setChosen}
        total={proposals.length}
        unpriced={picked.filter((one) => shownPrice(one, changeOf(one), usual) === null).length}
      />
      {shown.length === 0 ? (
        <NoMatch unsupported={unsupported.filter((one) => hasWords(one, wanted))} />
      ) : (
        <Rows shown={shown} draft={draft} isChecked={isChecked} inRow={inRow} />
      )}
      <Unsupported names={unsupported} />
      <ErrorNotice problem={elsewhere} />
      <DialogFooter>
        <Button variant="default" onClick={dialog?.close}>
          Cancel
        </Button>
        <Button
          disabled={picked.length === 0 || markupWords(usual) !== undefined}
          loading={serve.isPending}
          onClick={save}
        >
          {picked.length === 0 ? "Save" : `Save ${words(picked.length)}`}
        </Button>
      </DialogFooter>
    </Stack>
  );
}

interface RowsProps {
  readonly shown: readonly Proposal[];
  readonly draft: ReturnType<typeof useDraft>;
  readonly isChecked: boolean;
  readonly inRow: PlacedProblem["inRow"];
}

function Rows({ shown, draft, isChecked, inRow }: RowsProps) {
  // Typing a price for all does not wait for hundreds of rows.
  const usual = useDeferredValue(draft.usual);
  return (
    <ul className={classes["list"]} aria-label="Models to add">
      {shown.map((proposal) => (
        <ServeRow
          key={proposal.upstream}
          proposal={proposal}
          isChosen={draft.chosen.has(proposal.upstream)}
          isOpen={[draft.open, inRow?.upstream].includes(proposal.upstream)}
          change={draft.changes.get(proposal.upstream)}
          usual={usual}
          isChecked={isChecked}
          problem={inRow?.upstream === proposal.upstream ? inRow.problem : null}
          onChoose={draft.choose}
          onOpen={draft.toggle}
          onEdit={draft.edit}
        />
      ))}
    </ul>
  );
}

function useFound(proposals: readonly Proposal[]) {
  const [find, setFind] = useState("");
  const wanted = useDeferredValue(find.trim());
  const shown = useMemo(
    () => proposals.filter(({ id, upstream }) => hasWords(`${id} ${upstream}`, wanted)),
    [proposals, wanted],
  );
  return { find, setFind, wanted, shown };
}

const unchanged: RowChange = {};

/** What was chosen and entered so far. */
function useDraft(proposals: readonly Proposal[], shown: readonly Proposal[]) {
  const choice = useChoice(shown);
  const { chosen, changes } = choice;
  const [first] = useState(() => firstPricing(proposals));
  const [usual, setUsual] = useState(first);
  const changeOf = ({ upstream }: Proposal) => changes.get(upstream) ?? unchanged;
  const picked = proposals.filter(({ upstream }) => chosen.has(upstream));
  const asForAll = picked.filter((one) => changeOf(one).mode === undefined);
  return {
    ...choice,
    usual,
    setUsual,
    changeOf,
    picked,
    /** Of the chosen models that are priced as all are. */
    kinds: kindsOf(asForAll.map((one) => useOfRow(one, changeOf(one)))),
    isBegun: chosen.size > 0 || changes.size > 0 || usual !== first,
  };
}

interface ChoiceBarProps {
  readonly find: string;
  readonly onFind: (find: string) => void;
  readonly shown: readonly Proposal[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  readonly total: number;
  readonly unpriced: number;
}

function ChoiceBar(props: ChoiceBarProps) {
  const { find, onFind, shown, chosen, onChoose, total, unpriced } = props;
  const count = shown.filter(({ upstream }) => chosen.has(upstream)).length;
  const isAll = shown.length > 0 && count === shown.length;
  const rows = shown.map(({ upstream }) => upstream);
  const toggleAll = () => onChoose(withRows(chosen, rows, !isAll));
  return (
    <>
      <TextInput
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        data-autofocus
        leftSection={<IconSearch size={16} />}
        value={find}
        onChange={(event) => onFind(event.currentTarget.value)}
      />
      <div className={classes["bar"]}>
        <Checkbox
          label={`Select all ${shown.length} shown`}
          checked={isAll}
          indeterminate={count > 0 && !isAll}
          disabled={shown.length === 0}
          onChange={toggleAll}
        />
        <span className={classes["count"]} role="status">
          {chosen.size} of {total} selected
          {unpriced > 0 && `, ${needWords(unpriced)}`}
        </span>
      </div>
    </>
  );
}
