import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { call } from "../../../api.ts";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { createPasskey } from "../../../passkeys.ts";
import { useWork } from "../../../queries.ts";
import { browserName } from "../browser-name.ts";
import { Framed } from "./framed.tsx";

interface PasskeySetupProps {
  /** With the recovery codes, where it is the first factor. */
  readonly onDone: (codes: readonly string[] | null) => void;
}

export function PasskeySetup({ onDone }: PasskeySetupProps) {
  const [name, setName] = useState(() => browserName(navigator.userAgent));
  const add = useWork(
    async () => {
      const { ticket, options } = await call("POST /api/me/passkeys/setup");
      const response = await createPasskey(options);
      return await call("POST /api/me/passkeys", { body: { ticket, name, response } });
    },
    { onDone: ({ recovery_codes: codes }) => onDone(codes) },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Framed title="Add passkey">
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            Your browser asks where to store the passkey: on this device, in a password manager, on
            your phone or on a security key.
          </p>
          <TextInput
            label="Name"
            description="To recognize it later."
            required
            withAsterisk={false}
            autoFocus
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError(add.error, "name")}
          />
          <FormProblem problem={add.error} fields={["name"]} />
          <Group justify="flex-end">
            <Button type="submit" loading={add.isPending}>
              Create passkey
            </Button>
          </Group>
        </Stack>
      </form>
    </Framed>
  );
}
