import { Button } from "@mantine/core";
import { IconLock, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useAccountId, useMay } from "../../session.tsx";
import { CreateToken } from "./create-dialog.tsx";
import { useTokens } from "./tokens.ts";
import { TokensTable } from "./tokens-table.tsx";

export function Page() {
  const account = useAccountId();
  const mayEnter = useMay("owner");
  const [isCreating, setCreating] = useState(false);
  const tokens = useTokens(mayEnter);
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      Create a token
    </Button>
  );
  const about =
    account === undefined
      ? "For machines that work with the whole platform: deployments, scrapers, scripts. Models are called with keys, not with tokens."
      : "For machines that use the platform's API for this account. Models are called with keys, not with tokens.";
  return (
    <>
      <PageHeader title="Tokens" about={about} actions={mayEnter && create} />
      {!mayEnter && (
        <EmptyState
          icon={IconLock}
          title="Tokens are for owners"
          about="Ask an owner of the account to make one for you, or to make you an owner."
        />
      )}
      <ErrorNotice problem={tokens.error} onRetry={() => tokens.refetch()} />
      {mayEnter && tokens.isPending && <Loading lines={5} label="Loading the tokens" />}
      {tokens.data?.length === 0 && (
        <EmptyState
          icon={IconLock}
          title="No tokens yet"
          about="A token lets a script read usage or manage keys, and nothing else. Choose what it may do, and copy it."
          action={create}
        />
      )}
      {tokens.data !== undefined && tokens.data.length > 0 && (
        <Panel isFlush>
          <TokensTable tokens={tokens.data} />
        </Panel>
      )}
      <Dialog of={isCreating} onClose={() => setCreating(false)} size="lg">
        {() => <CreateToken />}
      </Dialog>
    </>
  );
}
