import { Button, Group, Stack } from "@mantine/core";
import { useState } from "react";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { leaveForProvider } from "../../identity-flow.ts";
import { useWork } from "../../queries.ts";
import { useSession, useUser } from "../../session.tsx";
import { Framed } from "./factors/framed.tsx";
import { Verified } from "./factors/verified.tsx";

/** Whether the company's account signs the user in. Nothing where no provider is set up. */
export function IdentityPanel() {
  const { provider } = useSession().sign_in;
  const { identity } = useUser();
  const [isOpen, setOpen] = useState(false);
  if (provider === null) return null;
  if (identity !== null)
    return (
      <Panel title={provider} about="You sign in with your company account.">
        <p>
          {identity.is_current
            ? `Connected as ${identity.email}.`
            : "Connected to an identity provider that is no longer in use. Ask an operator to disconnect it."}
        </p>
      </Panel>
    );
  return (
    <Panel title={provider} about="Sign in with your company account.">
      <Group justify="space-between">
        <p>Not connected.</p>
        <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
          Connect {provider}
        </Button>
      </Group>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => (
          <Verified>
            <Connect provider={provider} />
          </Verified>
        )}
      </Dialog>
    </Panel>
  );
}

function Connect({ provider }: { readonly provider: string }) {
  const leave = useWork(() => leaveForProvider({ kind: "connect", next: "/me" }));
  return (
    <Framed title={`Connect ${provider}`}>
      <Stack gap="md">
        <p>You sign in there once. From then on, it signs you in here.</p>
        <ErrorNotice problem={leave.error} />
        <Group justify="flex-end">
          <Button loading={leave.isPending} onClick={() => leave.mutate(undefined)}>
            Continue
          </Button>
        </Group>
      </Stack>
    </Framed>
  );
}
