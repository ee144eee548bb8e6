import { IconBuilding } from "@tabler/icons-react";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { PageHeader } from "../components/layout/page-header.tsx";
import { lastAccount } from "../last-account.ts";
import { useUser } from "../session.tsx";
import { GoTo } from "./go-to.tsx";

/** The front door of one who has signed in: where they were, or where their work is. */
export function Home() {
  const user = useUser();
  const kept = lastAccount.get();
  if (user.is_operator) return <GoTo href="/operator/overview" />;
  const account = user.accounts.find(({ id }) => id === kept) ?? user.accounts[0];
  if (account !== undefined) return <GoTo href={`/a/${account.id}/overview`} />;
  return (
    <>
      <PageHeader title="Welcome" about={`You are signed in as ${user.email}.`} />
      <EmptyState
        icon={IconBuilding}
        title="You are in no account"
        about="Ask an owner of the account for a link to join it, and open that link here."
      />
    </>
  );
}
