import type { Reply } from "../../api.ts";
import { ConfirmButton } from "../../components/feedback/confirm-button.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { actionsColumn, type Column, DataTable } from "../../components/table/data-table.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { useApi } from "../../queries.ts";
import { browserName } from "./browser-name.ts";

type Session = Reply<"GET /api/me/sessions">[number];

/** Where one is signed in, and the way to end it. */
export function Sessions() {
  const sessions = useApi("GET /api/me/sessions");
  return (
    <Panel
      title="Sessions"
      about="Browsers where you are signed in."
      actions={(sessions.data ?? []).length > 1 && <EndOthers />}
      isFlush
    >
      <ErrorNotice problem={sessions.error} onRetry={sessions.refetch} />
      {sessions.isPending && <Loading lines={3} label="Loading sessions" />}
      {sessions.data !== undefined && (
        <DataTable
          caption="Your sessions"
          columns={columns}
          rows={sessions.data}
          rowKey={({ id }) => id}
        />
      )}
    </Panel>
  );
}

const columns: readonly Column<Session>[] = [
  {
    header: "Browser",
    cell: ({ user_agent, is_current }) => (
      <>
        <span title={user_agent}>{browserName(user_agent)}</span>{" "}
        {is_current && <StateBadge state="active" label="this browser" />}
      </>
    ),
  },
  { header: "IP address", cell: ({ address }) => <code>{address}</code> },
  { header: "Signed in", cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    header: "Second factor",
    cell: ({ factor }) => (factor === null ? "None" : factorWords[factor]),
    isExtra: true,
  },
  { header: "Last seen", cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
  { header: "Expires", cell: ({ expires_at }) => <Moment at={expires_at} />, isExtra: true },
  actionsColumn((session) => !session.is_current && <End session={session} />),
];

const factorWords: Readonly<Record<NonNullable<Session["factor"]>, string>> = {
  totp: "App",
  passkey: "Passkey",
  recovery: "Recovery code",
  identity: "Identity provider",
};

function EndOthers() {
  return (
    <ConfirmButton
      size="xs"
      question="Sign out all other sessions?"
      consequence="Every browser except this one will have to sign in again."
      verb="Sign out"
      route="DELETE /api/me/sessions"
      input={{}}
      onDone={({ ended }) => say(`Signed out ${ended === 1 ? "1 session" : `${ended} sessions`}.`)}
    >
      Sign out all others
    </ConfirmButton>
  );
}

function End({ session: { id, user_agent } }: { readonly session: Session }) {
  return (
    <ConfirmButton
      size="xs"
      question="Sign out this session?"
      consequence={`${browserName(user_agent)} will have to sign in again.`}
      verb="Sign out"
      route="DELETE /api/me/sessions/:id"
      input={{ params: { id } }}
      onDone={() => say("Session signed out.")}
    >
      {" "}
      Sign out{" "}
    </ConfirmButton>
  );
}
