import { ActionIcon, Menu } from "@mantine/core";
import {
  IconChartBar,
  IconDots,
  IconList,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconTrash,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Freshness, leastFresh } from "../../../../src/base/freshness.ts";
import { ShareBar } from "../../components/chart/share-bar.tsx";
import { Money } from "../../components/money/money.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { LastUse } from "../../components/table/last-use.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatCount } from "../../format/figures.ts";
import { formatUsd } from "../../format/money.ts";
import { limitWords } from "../operator/account/limits.ts";
import { type Key, nameOf } from "./key-draft.ts";
import classes from "./page.module.css";

export type KeyAction = "edit" | "rotate" | "pause" | "resume" | "revoke";

interface KeysTableProps<Row> {
  readonly caption: string;
  readonly keys: readonly Row[];
  /** Of the list of all accounts: the account, after the key. */
  readonly account?: Column<Row>;
  readonly empty?: ReactNode;
  /** None: one may only look. */
  readonly onAction?: ((action: KeyAction, key: Key) => void) | undefined;
}

/** How far the spending of all of them reaches. */
export const spendingOf = (keys: readonly Key[]): Freshness | undefined =>
  leastFresh(
    keys.map(({ spent_as_of: asOf }) => ({ is_complete: asOf === null, as_of: asOf ?? "" })),
  );

export function KeysTable<Row extends Key>(props: KeysTableProps<Row>) {
  const { caption, keys, account, empty, onAction } = props;
  const actions = actionsColumn<Key>((key) => (
    <Actions of={key} onAction={onAction && ((action) => onAction(action, key))} />
  ));
  return (
    <DataTable
      caption={caption}
      columns={
        account === undefined
          ? [...ofAccount, actions]
          : [...ofAll(account), { ...actions, width: 56 }]
      }
      rows={keys}
      rowKey={({ id }) => id}
      empty={empty}
    />
  );
}

const name: Column<Key> = { header: "Key", cell: (key) => <Name of={key} /> };
const state: Column<Key> = { header: "State", cell: (key) => <State of={key} /> };
const models: Column<Key> = { header: "Models", cell: ({ models: ids }) => <Models ids={ids} /> };
const limits: Column<Key> = { header: "Limits", cell: (key) => <Limits of={key} /> };
const spent: Column<Key> = {
  header: "This month",
  isFigure: true,
  cell: ({ spent_usd: usd }) => (usd === null ? "–" : <Money usd={usd} />),
};
const lastUse: Column<Key> = { header: "Last used", cell: (key) => <LastUse of={key} /> };
const end: Column<Key> = { header: "Expires", cell: (key) => <End of={key} /> };

const ofAccount: readonly Column<Key>[] = [name, state, models, limits, spent, lastUse, end];

/** There is no room for the models beside the account; the name has what the others leave. */
const ofAll = <Row extends Key>(account: Column<Row>): readonly Column<Row>[] => [
  name,
  { ...account, width: 104 },
  { ...state, width: 196 },
  { ...limits, width: 146 },
  { ...spent, width: 96 },
  { ...lastUse, width: 124 },
  { ...end, width: 100 },
];

function Name({ of }: { readonly of: Key }) {
  return (
    <div className="lines strong">
      {of.name === "" ? <span className="soft">No name</span> : of.name}
      <code>{of.hint}</code>
      {of.created_by !== null && (
        <span className={classes.creator}>by {creatorName(of.created_by)}</span>
      )}
      {of.previous !== null && (
        <span className={classes.previous}>
          Old secret <code>{of.previous.hint}</code> expires <Moment at={of.previous.expires_at} />
        </span>
      )}
    </div>
  );
}

/** Keys that no person created. */
const creatorWords: Readonly<Record<string, string>> = {
  start: "server startup",
  "command line": "the command line",
};

const creatorName = (name: string) => creatorWords[name] ?? name;

/** A revoked key has ended, whatever its expiration date. */
function End({ of: { revoked_at, expires_at } }: { readonly of: Key }) {
  const at = revoked_at ?? expires_at;
  if (at === null) return "Never";
  return (
    <span className="nowrap">
      <Moment at={at} />
    </span>
  );
}

const soonMs = 7 * 86_400_000;

function State({ of }: { readonly of: Key }) {
  const { status, expires_at, rejected_last_hour: rejected } = of;
  const endsMs = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
  const isEnding = status === "active" && endsMs - Date.now() < soonMs;
  return (
    <div className={classes.states}>
      {isEnding ? (
        <StateBadge state="expiring" label="expires soon" />
      ) : (
        <StateBadge state={status} />
      )}
      {rejected.slice(0, shownRejections).map(({ status: http, code, count }) => (
        <Link
          key={`${http} ${code}`}
          to="/a/$account/requests"
          params={{ account: of.account }}
          search={{ key: of.id, outcome: "rejected", status: String(http) }}
          title={`${code}, in the last hour`}
        >
          <StateBadge state="failed" label={rejectionLabel(http, count)} />
        </Link>
      ))}
    </div>
  );
}

const shownRejections = 2;

const rejectionLabel = (http: number, count: number) =>
  `${formatCount(count)} × ${http} in the last hour`;

const shownModels = 2;

function Models({ ids }: { readonly ids: readonly string[] | null }) {
  if (ids === null) return <span className="nowrap">All models</span>;
  const rest = ids.slice(shownModels);
  return (
    <span className={classes.ids}>
      {ids.slice(0, shownModels).map((id) => (
        <code key={id}>{id}</code>
      ))}
      {rest.length > 0 && (
        <span className="soft" title={rest.join(", ")}>
          and {rest.length} more
        </span>
      )}
    </span>
  );
}

const periodWords = { total: "in total", day: "today", month: "this month" } as const;

function Limits({ of: { limits, budget } }: { readonly of: Key }) {
  const words = limitWords({ ...limits, budget: null });
  if (words.length === 0 && budget === null) return <span className="soft">None</span>;
  const share = budget === null ? 0 : Number(budget.spent_usd) / Number(budget.limit_usd);
  return (
    <div className={classes.limits}>
      {words.map((word) => (
        <span key={word}>{word}</span>
      ))}
      {budget !== null && (
        <div className={classes.budget}>
          <span>
            {formatUsd(budget.spent_usd)} of {formatUsd(budget.limit_usd)}{" "}
            {periodWords[budget.period]}
            {share >= 1 && ", used up"}
          </span>
          <ShareBar share={share} width={120} isFull={share >= 1} />
        </div>
      )}
    </div>
  );
}

interface ActionsProps {
  readonly of: Key;
  /** None: one may only look. */
  readonly onAction: ((action: KeyAction) => void) | undefined;
}

function Actions({ of, onAction }: ActionsProps) {
  const { account, id, status } = of;
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${nameOf(of)}`} size={30}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconChartBar size={16} />}
          renderRoot={(props) => (
            <Link to="/a/$account/overview" params={{ account }} search={{ key: id }} {...props} />
          )}
        >
          View usage
        </Menu.Item>
        <Menu.Item
          leftSection={<IconList size={16} />}
          renderRoot={(props) => (
            <Link to="/a/$account/requests" params={{ account }} search={{ key: id }} {...props} />
          )}
        >
          View requests
        </Menu.Item>
        {onAction !== undefined && status !== "revoked" && <Changes of={of} onAction={onAction} />}
      </Menu.Dropdown>
    </Menu>
  );
}

interface ChangesProps {
  readonly of: Key;
  readonly onAction: (action: KeyAction) => void;
}

function Changes({ of: { status }, onAction }: ChangesProps) {
  return (
    <>
      <Menu.Divider />
      <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onAction("edit")}>
        Edit
      </Menu.Item>
      {status === "active" && (
        <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => onAction("rotate")}>
          Rotate
        </Menu.Item>
      )}
      {status === "active" && (
        <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => onAction("pause")}>
          Pause
        </Menu.Item>
      )}
      {status === "paused" && (
        <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => onAction("resume")}>
          Resume
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item
        color="red"
        leftSection={<IconTrash size={16} />}
        onClick={() => onAction("revoke")}
      >
        Revoke
      </Menu.Item>
    </>
  );
}
