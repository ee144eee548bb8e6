import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { type ReactNode, type SubmitEvent, useEffect, useRef, useState } from "react";
import { type ApiProblem, call, type Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import type { Form } from "../../../components/form/use-form.ts";
import { passkeyPlace } from "../../../passkey-place.ts";
import { askPasskey } from "../../../passkeys.ts";
import { useApi, useWork } from "../../../queries.ts";
import { useUser } from "../../../session.tsx";
import { Framed } from "./framed.tsx";

export type FactorsView = Reply<"GET /api/me/factors">;

/**
 * Around a change that the platform makes only for a user who has proved within ten minutes who they
 * are: asks for that first. Once it has passed, the change stays on screen.
 */
export function Verified({ children }: { readonly children: ReactNode }) {
  const [hasPassed, setPassed] = useState(false);
  if (hasPassed) return children;
  return <Proof onDone={() => setPassed(true)} />;
}

interface VerifiedFormProps {
  readonly form: Pick<Form<object>, "problem" | "submit">;
  readonly children: ReactNode;
}

/** Around a form: asks for the proof if the platform misses it, and then sends the form again. */
export function VerifiedForm({ form, children }: VerifiedFormProps) {
  if (form.problem?.code !== "verification_required") return children;
  return <Proof onDone={() => form.submit()} />;
}

function Proof({ onDone }: { readonly onDone: () => void }) {
  // Not an old answer: the ten minutes may be over.
  const factors = useApi("GET /api/me/factors", {}, { everyMs: 60_000 });
  const { data, isFetchedAfterMount } = factors;
  const isVerified = isFetchedAfterMount && data?.is_verified === true;
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    if (isVerified) done.current();
  }, [isVerified]);
  if (factors.isError)
    return (
      <Framed title="Confirm that it is you">
        <ErrorNotice problem={factors.error} onRetry={factors.refetch} />
      </Framed>
    );
  if (data === undefined || !isFetchedAfterMount || isVerified)
    return (
      <Framed title="One moment">
        <Loading lines={3} label="Loading" />
      </Framed>
    );
  return <Verify factors={data} onDone={onDone} />;
}

interface VerifyProps {
  readonly factors: FactorsView;
  readonly onDone: () => void;
}

function Verify({ factors, onDone }: VerifyProps) {
  const { has_password: hasPassword } = useUser();
  // A user with a factor proves themselves by it: the password is not enough.
  const usesCode = factors.totp !== null || factors.passkeys.length > 0;
  const [text, setText] = useState("");
  const verify = useWork(
    async (isPasskey: boolean) => {
      if (!isPasskey)
        return await call("POST /api/me/verify", {
          body: usesCode ? { code: text } : { password: text },
        });
      const { ticket, options } = await call("POST /api/me/verify/passkey");
      const passkey = await askPasskey(options);
      return await call("POST /api/me/verify", { body: { ticket, passkey } });
    },
    { onDone },
  );
  const hasPasskey =
    passkeyPlace().kind === "ready" &&
    factors.passkeys.some(({ host }) => host === location.hostname);
  if (!usesCode && !hasPassword)
    return (
      <Framed title="Confirm that it is you">
        <p>Sign out and sign in again. You can then make this change within ten minutes.</p>
      </Framed>
    );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    verify.mutate(false);
  };
  return (
    <Framed title="Confirm that it is you">
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>This change affects how people sign in or what they may do.</p>
          <ProofField usesCode={usesCode} text={text} onText={setText} problem={verify.error} />
          <FormProblem problem={verify.error} fields={[usesCode ? "code" : "password"]} />
          <Group justify="flex-end" gap="xs">
            {hasPasskey && (
              <Button variant="default" onClick={() => verify.mutate(true)}>
                Use passkey
              </Button>
            )}
            <Button type="submit" loading={verify.isPending}>
              Confirm
            </Button>
          </Group>
        </Stack>
      </form>
    </Framed>
  );
}

interface ProofFieldProps {
  readonly usesCode: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly problem: ApiProblem | null;
}

function ProofField({ usesCode, text, onText, problem }: ProofFieldProps) {
  const { email } = useUser();
  const field = {
    required: true,
    withAsterisk: false,
    autoFocus: true,
    value: text,
    error: fieldError(problem, usesCode ? "code" : "password"),
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      onText(event.currentTarget.value),
  };
  if (usesCode)
    return <TextInput key="code" label="Code" autoComplete="one-time-code" {...field} />;
  return (
    <>
      {/* For password managers, which need to know whose it is. */}
      <input type="hidden" autoComplete="username" value={email} readOnly />
      <PasswordInput
        key="password"
        label="Your password"
        autoComplete="current-password"
        visibilityToggleButtonProps={{ "aria-label": "Show password" }}
        {...field}
      />
    </>
  );
}
