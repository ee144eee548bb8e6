import { Button } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { FindInput } from "../../components/form/find-input.tsx";
import { Fold } from "../../components/layout/fold.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { BehindNote } from "../../components/period/behind-note.tsx";
import { useApi } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useAccount, useMay } from "../../session.tsx";
import { useKeyActions } from "./key-dialogs.tsx";
import { findKeys, type Key } from "./key-draft.ts";
import { CreateKey } from "./key-form.tsx";
import { type KeyAction, KeysTable, spendingOf } from "./keys-table.tsx";
import classes from "./page.module.css";

export function Page() {
  const { id: account } = useAccount();
  const mayChange = useMay("developer");
  const [search, setSearch] = useSearchText();
  const keys = useApi(
    "GET /api/accounts/:account/keys",
    { params: { account } },
    { everyMs: 30_000 },
  );
  const models = useApi("GET /api/accounts/:account/models", { params: { account } });
  const { act, problem, dialogs } = useKeyActions();
  const create = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setSearch({ new: "1" })}>
      {" "}
      Create key{" "}
    </Button>
  );
  const known = models.data ?? [];
  return (
    <>
      <PageHeader
        title="Keys"
        about="API keys for your applications. Each key has its own models, limits and budget. All calls are charged to this account."
        actions={create}
      />
      <ErrorNotice problem={keys.error ?? problem} onRetry={() => keys.refetch()} />
      {keys.isPending && <Loading lines={6} label="Loading keys" />}
      {keys.data !== undefined && (
        <Lists
          keys={keys.data}
          wanted={search["find"] ?? ""}
          create={create}
          onAction={mayChange ? act : undefined}
        />
      )}
      <Dialog
        of={mayChange && search["new"] !== undefined}
        onClose={() => setSearch({ new: undefined })}
        size="lg"
      >
        {() => <CreateKey account={account} models={known} />}
      </Dialog>
      {dialogs}
    </>
  );
}

/** From here on a list is searched rather than read. */
const searchFrom = 6;

interface ListsProps {
  readonly keys: readonly Key[];
  readonly wanted: string;
  readonly create: ReactNode;
  readonly onAction: ((action: KeyAction, key: Key) => void) | undefined;
}

function Lists({ keys: all, wanted, create, onAction }: ListsProps) {
  const keys = findKeys(all, wanted);
  const isLive = ({ status }: Key) => status === "active" || status === "paused";
  const working = keys.filter(isLive);
  const ended = keys.filter((key) => !isLive(key));
  return (
    <>
      {(all.length >= searchFrom || wanted !== "") && (
        <div className={classes.find}>
          <FindInput label="Find keys" placeholder="Name, creator or model" />
        </div>
      )}
      {wanted !== "" && keys.length === 0 && (
        <EmptyState
          icon={IconKey}
          title="No matches"
          about="Search by name, secret ending, creator or model."
        />
      )}
      <BehindNote sums={spendingOf([...working, ...ended])} />
      {wanted !== "" && working.length === 0 ? null : working.length === 0 ? (
        <EmptyState
          icon={IconKey}
          title={ended.length === 0 ? "No keys yet" : "No active keys"}
          about={
            create === false
              ? "A developer or an owner of this account can create one."
              : "Create one key per application to track spend and revoke access separately."
          }
          action={create}
        />
      ) : (
        <Panel isFlush>
          <KeysTable caption="Active keys" keys={working} onAction={onAction} />
        </Panel>
      )}
      {ended.length > 0 && (
        <Fold title={`Revoked and expired keys (${ended.length})`}>
          <Panel isFlush>
            <KeysTable caption="Revoked and expired keys" keys={ended} onAction={onAction} />
          </Panel>
        </Fold>
      )}
    </>
  );
}
