import { Button } from "@mantine/core";
import { IconLock, IconPlus } from "@tabler/icons-react";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useOpened } from "../../search.ts";
import { useAccountId, useMay } from "../../session.tsx";
import { CreateToken } from "./create-dialog.tsx";
import { useTokens } from "./tokens.ts";
import { TokensTable } from "./tokens-table.tsx";

export function Page() {
  const account = useAccountId();
  const mayEnter = useMay("owner");
  const [isCreating, setCreating] = useOpened("new");
  const tokens = useTokens(mayEnter);
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      {" "}
      Create token{" "}
    </Button>
  );
  const about =
    account === undefined
      ? "Access to the platform API for deployments, scrapers and scripts. To call models, use keys."
      : "Access to the platform API for this account. To call models, use keys.";
  return (
    <>
      <PageHeader title="Tokens" about={about} actions={mayEnter && create} />
      {!mayEnter && (
        <EmptyState
          icon={IconLock}
          title="Only owners can manage tokens"
          about="Ask an account owner to create one for you or to give you the owner role."
        />
      )}
      <ErrorNotice problem={tokens.error} onRetry={() => tokens.refetch()} />
      {mayEnter && tokens.isPending && <Loading lines={5} label="Loading tokens" />}
      {tokens.data?.length === 0 && (
        <EmptyState
          icon={IconLock}
          title="No tokens yet"
          about="Create one to let a script use the platform API with the scopes you choose."
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
