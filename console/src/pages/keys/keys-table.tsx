import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconPencil, IconRefresh, IconTrash } from "@tabler/icons-react";
import { ShareBar } from "../../components/chart/share-bar.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatUsd } from "../../format/money.ts";
import { limitWords } from "../operator/account/limits.ts";
import { type Key, nameOf } from "./key-draft.ts";
import classes from "./page.module.css";

export type KeyAction = "edit" | "rotate" | "revoke";

interface KeysTableProps {
  readonly caption: string;
  readonly keys: readonly Key[];
  /** None: one may only look. */
  readonly onAction?: ((action: KeyAction, key: Key) => void) | undefined;
}

export function KeysTable({ caption, keys, onAction }: KeysTableProps) {
  const actions = actionsColumn<Key>(
    (key) =>
      onAction !== undefined &&
      key.status !== "revoked" && <Actions of={key} onAction={(action) => onAction(action, key)} />,
  );
  return (
    <DataTable
      caption={caption}
      columns={onAction === undefined ? columns : [...columns, actions]}
      rows={keys}
      rowKey={({ id }) => id}
    />
  );
}

const columns: readonly Column<Key>[] = [
  { header: "Key", cell: (key) => <Name of={key} /> },
  { header: "State", cell: (key) => <State of={key} /> },
  { header: "Models", cell: ({ models }) => <Models ids={models} /> },
  { header: "Limits", cell: (key) => <Limits of={key} /> },
  {
    header: "Last used",
    cell: ({ last_used_at: at }) => (at === null ? "Never" : <Moment at={at} />),
  },
  { header: "Expires", cell: (key) => <End of={key} /> },
];

function Name({ of }: { readonly of: Key }) {
  return (
    <div className="lines strong">
      {of.name === "" ? <span className="soft">No name</span> : of.name}
      <code>{of.hint}</code>
      {of.previous !== null && (
        <span className={classes.previous}>
          Old secret <code>{of.previous.hint}</code> expires <Moment at={of.previous.expires_at} />
        </span>
      )}
    </div>
  );
}

/** A revoked key has ended, whatever its expiration date. */
function End({ of: { revoked_at, expires_at } }: { readonly of: Key }) {
  const at = revoked_at ?? expires_at;
  return at === null ? "Never" : <Moment at={at} />;
}

const soonMs = 7 * 86_400_000;

function State({ of: { status, expires_at } }: { readonly of: Key }) {
  const endsMs = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
  if (status === "active" && endsMs - Date.now() < soonMs)
    return <StateBadge state="expiring" label="expires soon" />;
  return <StateBadge state={status} />;
}

const shownModels = 2;

function Models({ ids }: { readonly ids: readonly string[] | null }) {
  if (ids === null) return <span>All models</span>;
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
  readonly onAction: (action: KeyAction) => void;
}

function Actions({ of, onAction }: ActionsProps) {
  return (
    <Menu position="bottom-end" width={170}>
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${nameOf(of)}`} size={30}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onAction("edit")}>
          Edit
        </Menu.Item>
        {of.status === "active" && (
          <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => onAction("rotate")}>
            Rotate
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
      </Menu.Dropdown>
    </Menu>
  );
}
