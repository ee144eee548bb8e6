import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { useApi } from "../../../queries.ts";
import { CodesPanel } from "./codes-panel.tsx";
import { type FactorKind, NewFactor } from "./new-factor.tsx";
import { PasskeysPanel } from "./passkeys-panel.tsx";
import type { FactorsView } from "./verified.tsx";
import { VerifiedButton } from "./verified-button.tsx";

/** What the user proves besides the password. */
export function FactorsPanels() {
  const factors = useApi("GET /api/me/factors");
  const [adding, setAdding] = useState<FactorKind>();
  const { data } = factors;
  return (
    <>
      <ErrorNotice problem={factors.error} onRetry={factors.refetch} />
      {factors.isPending && <Loading lines={4} label="Loading second factors" />}
      {data !== undefined && (
        <>
          <AppPanel factors={data} onAdd={() => setAdding("totp")} />
          <PasskeysPanel factors={data} onAdd={() => setAdding("passkey")} />
          {(data.totp !== null || data.passkeys.length > 0) && (
            <CodesPanel left={data.recovery_codes} />
          )}
        </>
      )}
      <Dialog of={adding} onClose={() => setAdding(undefined)}>
        {(kind) => <NewFactor kind={kind} />}
      </Dialog>
    </>
  );
}

interface AppPanelProps {
  readonly factors: FactorsView;
  readonly onAdd: () => void;
}

function AppPanel({ factors, onAdd }: AppPanelProps) {
  const { totp } = factors;
  return (
    <Panel
      title="Authenticator app"
      about="An app that shows a new code every 30 seconds. Sign-in then asks for the code after the password."
      actions={
        totp === null && (
          <Button variant="default" onClick={onAdd}>
            Set up app
          </Button>
        )
      }
    >
      {totp === null ? (
        <p className="soft">Not set up.</p>
      ) : (
        <Group justify="space-between">
          <p>
            Set up <Moment at={totp.added_at} />
          </p>
          <VerifiedButton
            question="Remove your authenticator app?"
            consequence={
              factors.passkeys.length === 0
                ? "Your password alone will sign you in. Your recovery codes stop working."
                : "Sign-in will ask for a passkey. Delete the entry in the app yourself."
            }
            verb="Remove"
            route="DELETE /api/me/totp"
            input={{}}
            onDone={() => say("Authenticator app removed.")}
            aria-label="Remove authenticator app"
          >
            Remove
          </VerifiedButton>
        </Group>
      )}
    </Panel>
  );
}
