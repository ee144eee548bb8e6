import { Button } from "@mantine/core";
import { IconKey, IconPlus, IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loaded } from "../../../components/feedback/loaded.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { BehindNote } from "../../../components/period/behind-note.tsx";
import type { Column } from "../../../components/table/data-table.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useApi } from "../../../queries.ts";
import { useOpened, useSearchText } from "../../../search.ts";
import { useKeyActions } from "../../keys/key-dialogs.tsx";
import { KeysTable, spendingOf } from "../../keys/keys-table.tsx";
import { ChooseAccount } from "./choose-account.tsx";

type Found = Reply<"GET /api/keys">;
type Key = Found["keys"][number];

/** The keys of all accounts, the newest of them where they are very many. */
export function Page() {
  const [search] = useSearchText();
  const find = (search["find"] ?? "").trim();
  const [isCreating, setCreating] = useOpened("new");
  const keys = useApi("GET /api/keys", { query: { find } }, { everyMs: 30_000, keepsOld: true });
  const { act, problem, dialogs } = useKeyActions();
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Keys"
        about="API keys of all accounts. Calls are charged to the key's account."
        actions={create}
      />
      <ErrorNotice problem={problem} />
      <Loaded from={keys} lines={6} label="Loading keys">
        {(found) =>
          found.total === 0 && find === "" ? (
            <EmptyState
              icon={IconKey}
              title="No keys yet"
              about="A key belongs to an account and calls models on its behalf."
              action={create}
            />
          ) : (
            <>
              <BehindNote sums={spendingOf(found.keys)} />
              <Panel
                title={countWords(found)}
                actions={<FindInput label="Search keys" placeholder="Key, creator or account" />}
                isFlush
              >
                <KeysTable
                  caption="Keys of all accounts"
                  keys={found.keys}
                  account={accountColumn}
                  onAction={act}
                  empty={
                    <EmptyState
                      icon={IconSearch}
                      title="No matches"
                      about={`No keys match “${find}”. Search by key, ID, creator or account.`}
                    />
                  }
                />
              </Panel>
            </>
          )
        }
      </Loaded>
      <Dialog of={isCreating} onClose={() => setCreating(false)}>
        {() => <ChooseAccount />}
      </Dialog>
      {dialogs}
    </>
  );
}

function countWords({ keys, total }: Found): string {
  const all = `${formatCount(total)} ${total === 1 ? "key" : "keys"}`;
  return keys.length === total ? all : `Newest ${formatCount(keys.length)} of ${all}`;
}

const accountColumn: Column<Key> = {
  header: "Account",
  cell: ({ account, account_name: name }) => (
    <Link className="anywhere" to="/operator/accounts/$id" params={{ id: account }}>
      {name}
    </Link>
  ),
};
