import { IconList } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ApiProblem, request } from "../../api.ts";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { Id } from "../../components/layout/fact.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { OutcomeBadge } from "../../components/table/state-badge.tsx";
import { useAccountId } from "../../session.tsx";
import { Arithmetic } from "./arithmetic.tsx";
import { Attempts } from "./attempts.tsx";
import { Facts } from "./facts.tsx";
import classes from "./page.module.css";
import type { Receipt } from "./receipt.ts";
import { TimelinePanel } from "./timeline-panel.tsx";

export function Page() {
  const account = useAccountId();
  const { request: id = "" } = useParams({ strict: false });
  const receipt = useReceipt(account, id);
  const isMissing = receipt.error?.status === 404;
  return (
    <>
      <PageHeader
        title="Request"
        back={<Back account={account} />}
        mark={
          receipt.data !== undefined && (
            <OutcomeBadge outcome={receipt.data.outcome} words={receipt.data.outcome_words} />
          )
        }
        about={<Id id={id} what="the request ID" />}
      />
      {isMissing ? (
        <EmptyState
          icon={IconList}
          title="Request not found"
          about="Requests appear once they finish. Rejected calls have no receipt."
          action={<FindRejected account={account} id={id} />}
        />
      ) : (
        <ErrorNotice problem={receipt.error} onRetry={() => receipt.refetch()} />
      )}
      {receipt.isPending && <Loading lines={8} label="Loading request" />}
      {receipt.data !== undefined && (
        <div className={classes.columns}>
          <div>
            <TimelinePanel receipt={receipt.data} />
            <Arithmetic receipt={receipt.data} />
          </div>
          <div>
            <Facts receipt={receipt.data} account={account} />
            <Attempts receipt={receipt.data} />
          </div>
        </div>
      )}
    </>
  );
}

/** A receipt is written once and never changed. */
function useReceipt(account: string | undefined, id: string) {
  const name =
    account === undefined ? "GET /api/requests/:id" : "GET /api/accounts/:account/requests/:id";
  return useQuery<Receipt, ApiProblem>({
    queryKey: [name, account, id],
    queryFn: async ({ signal }) =>
      (await request(name, { params: { account: account ?? "", id } }, signal)) as Receipt,
  });
}

function FindRejected(props: { readonly account: string | undefined; readonly id: string }) {
  const { account, id } = props;
  const search = { outcome: "rejected", id };
  const words = "Look for it in the rejected calls";
  if (account === undefined)
    return (
      <Link to="/operator/requests" search={search}>
        {words}
      </Link>
    );
  return (
    <Link to="/a/$account/requests" params={{ account }} search={search}>
      {words}
    </Link>
  );
}

function Back({ account }: { readonly account: string | undefined }) {
  if (account === undefined) return <Link to="/operator/requests">All requests</Link>;
  return (
    <Link to="/a/$account/requests" params={{ account }}>
      All requests
    </Link>
  );
}
