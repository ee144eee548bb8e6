import { Button, Group, Stack } from "@mantine/core";
import { useState } from "react";
import { DoorHeader } from "../../../components/layout/signed-out-header.tsx";
import { passkeyPlace } from "../../../passkey-place.ts";
import { useChange } from "../../../queries.ts";
import { useUser } from "../../../session.tsx";
import { DoorCard } from "../../../shell/signed-out.tsx";
import { type FactorKind, NewFactor } from "./new-factor.tsx";
import { PasskeyPlaceNotice } from "./passkey-place-notice.tsx";

/** In place of every page while the user must set up a second factor. */
export function RequiredFactor({ onDone }: { readonly onDone: () => void }) {
  const [kind, setKind] = useState<FactorKind>();
  return (
    <DoorCard>
      {kind === undefined ? (
        <Choice onChoose={setKind} />
      ) : (
        <NewFactor kind={kind} onDone={onDone} />
      )}
    </DoorCard>
  );
}

function Choice({ onChoose }: { readonly onChoose: (kind: FactorKind) => void }) {
  const { email } = useUser();
  const [place] = useState(passkeyPlace);
  const leave = useChange("DELETE /api/session", {
    onDone: ({ provider_url: url }) => location.assign(url ?? "/sign-in"),
  });
  return (
    <>
      <DoorHeader
        title="Set up a second factor"
        about={`You are signed in as ${email}. This platform requires a second factor.`}
      />
      <Stack gap="md">
        <Button size="md" fullWidth autoFocus onClick={() => onChoose("totp")}>
          Set up authenticator app
        </Button>
        {place.kind === "ready" ? (
          <Button size="md" fullWidth variant="default" onClick={() => onChoose("passkey")}>
            Add passkey
          </Button>
        ) : (
          <PasskeyPlaceNotice place={place} />
        )}
        <Group justify="flex-end">
          <Button variant="subtle" size="compact-sm" onClick={() => leave.mutate(undefined)}>
            Sign out
          </Button>
        </Group>
      </Stack>
    </>
  );
}
