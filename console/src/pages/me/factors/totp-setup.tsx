import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { useChange } from "../../../queries.ts";
import classes from "./factors.module.css";
import { Framed } from "./framed.tsx";
import { QrCode } from "./qr-code.tsx";

interface TotpSetupProps {
  /** With the recovery codes, where it is the first factor. */
  readonly onDone: (codes: readonly string[] | null) => void;
}

/** Nothing is stored before a code of the app has been right. */
export function TotpSetup({ onDone }: TotpSetupProps) {
  const setup = useChange("POST /api/me/totp/setup");
  const add = useChange("POST /api/me/totp", {
    onDone: ({ recovery_codes: codes }) => onDone(codes),
  });
  const [code, setCode] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { mutate } = setup;
  useEffect(() => mutate(undefined), [mutate]);
  useEffect(() => {
    if (add.error !== null) input.current?.select();
  }, [add.error]);
  const { data } = setup;
  if (data === undefined)
    return (
      <Framed title="Set up authenticator app">
        <ErrorNotice problem={setup.error} onRetry={() => mutate(undefined)} />
        {setup.error === null && <Loading lines={5} label="Loading the code" />}
      </Framed>
    );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    add.mutate({ body: { ticket: data.ticket, code } });
  };
  const letters = data.secret.replace(/(.{4})(?!$)/g, "$1 ");
  return (
    <Framed title="Set up authenticator app">
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>Scan this code with an authenticator app, such as the one in your password manager.</p>
          <QrCode text={data.uri} label="QR code for the authenticator app" />
          <div>
            <p className="soft small">Or enter this key in the app:</p>
            <div className={classes.secret}>
              <code>{letters}</code>
              <CopyButton text={data.secret} what="the key" />
            </div>
          </div>
          <TextInput
            ref={input}
            label="Code from the app"
            description="Six digits that change every 30 seconds."
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            withAsterisk={false}
            autoFocus
            maxLength={40}
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            error={fieldError(add.error, "code")}
          />
          <FormProblem problem={add.error} fields={["code"]} />
          <Group justify="flex-end">
            <Button type="submit" loading={add.isPending}>
              Turn on
            </Button>
          </Group>
        </Stack>
      </form>
    </Framed>
  );
}
