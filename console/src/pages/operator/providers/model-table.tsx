import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { formatCount } from "../../../format/figures.ts";
import classes from "./page.module.css";
import { keysByState, type ServedModel, servedModels } from "./served-models.ts";
import { breakerNotes, type Provider, reasonWords, type Target } from "./words.ts";

interface ModelTableProps {
  readonly provider: Provider;
  /** Those that the vendor does not list. */
  readonly unlisted: ReadonlySet<string>;
}

/** One row per model, with the keys that call it inside. */
export function ModelTable({ provider, unlisted }: ModelTableProps) {
  return (
    <DataTable
      caption={`Models of ${provider.name}`}
      columns={columns({ unlisted, hasKeys: provider.keys.length > 1 })}
      rows={servedModels(provider)}
      rowKey={({ model }) => model}
      empty="No model uses this provider yet. Choose “Add models” to see what it offers."
    />
  );
}

const columns = ({
  unlisted,
  hasKeys,
}: {
  readonly unlisted: ReadonlySet<string>;
  readonly hasKeys: boolean;
}): readonly Column<ServedModel>[] => [
  {
    header: "Upstream model",
    cell: ({ model }) => <code className="small anywhere">{model}</code>,
  },
  {
    header: "State",
    cell: (row) => <ModelState row={row} isUnlisted={unlisted.has(row.model)} />,
  },
  ...(hasKeys ? [{ header: "Keys", cell: (row: ServedModel) => <Keys row={row} /> }] : []),
  { header: "Last 10 s", isFigure: true, cell: ({ targets }) => recentCalls(targets) },
];

function recentCalls(targets: readonly Target[]): string {
  const calls = targets.reduce((sum, { requests }) => sum + requests, 0);
  const failed = targets.reduce((sum, { failures }) => sum + failures, 0);
  if (calls === 0) return "No calls";
  return `${formatCount(calls)} ${calls === 1 ? "call" : "calls"}, ${formatCount(failed)} failed`;
}

const mostNamed = 3;

/** Each state once, with the names of its keys, or with how many there are. */
function Keys({ row }: { readonly row: ServedModel }) {
  return (
    <ul className={classes.keys}>
      {keysByState(row).map(({ state, keys }) => (
        <li key={state}>
          <ServingBadge state={state} />
          <span title={keys.join(", ")}>
            {keys.length > mostNamed ? `${keys.length} keys` : keys.join(", ")}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface ModelStateProps {
  readonly row: ServedModel;
  readonly isUnlisted: boolean;
}

function ModelState({ row, isUnlisted }: ModelStateProps) {
  const skipped = row.targets.filter(({ state }) => state !== "closed");
  const more = skipped.length - mostNamed;
  return (
    <span className={classes.state}>
      <ServingBadge state={row.state} />
      {skipped.slice(0, mostNamed).map((target) => (
        <BreakerNote key={target.key} target={target} />
      ))}
      {more > 0 && <small>{more === 1 ? "1 more key" : `${more} more keys`}.</small>}
      {isUnlisted && (
        <small className={classes.unlisted}>
          Not in the vendor's list of models. It may have been shut down. Change the route.
        </small>
      )}
    </span>
  );
}

/** What the circuit breaker does with a target that it does not simply call. */
function BreakerNote({ target }: { readonly target: Target }) {
  const { key, state, reason, since, until, nodes } = target;
  const isAhead = until !== null && Date.parse(until) > Date.now();
  return (
    <small>
      {key !== null && `Key ${key}: `}
      {breakerNotes[state]} {reasonWords(reason)}
      {nodes !== undefined && ` On ${nodes.join(", ")}.`}
      {since !== null && (
        <>
          {" "}
          Started <Moment at={since} />.
        </>
      )}
      {isAhead && (
        <>
          {" "}
          Next try <Moment at={until} />.
        </>
      )}
    </small>
  );
}
