import { Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useState } from "react";
import { type ApiProblem, call } from "../../api.ts";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { passkeyPlace } from "../../passkey-place.ts";
import { askPasskey } from "../../passkeys.ts";
import { sessionKey, useChange, useWork } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useSession } from "../../session.tsx";
import { Redirect } from "../../shell/signed-in.tsx";
import { Forgotten } from "./forgotten.tsx";
import { ProviderButton } from "./provider-button.tsx";
import { safePath } from "./safe-path.ts";
import { type MissingFactor, SecondStep } from "./second-step.tsx";

export function Page() {
  const { user, sign_in: signIn } = useSession();
  const [{ then }] = useSearchText();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [missing, setMissing] = useState<MissingFactor>();
  const [expired, setExpired] = useState<ApiProblem | null>(null);
  const [isForgotten, setForgotten] = useState(false);
  const enter = () => void client.refetchQueries({ queryKey: sessionKey });
  if (user !== null) return <Redirect href={safePath(then)} />;
  const { provider, passwords } = signIn;
  if (passwords === "off" && provider !== null)
    return (
      <>
        <DoorHeader title="Sign in" />
        <ProviderButton name={provider} then={then} />
      </>
    );
  if (isForgotten)
    return <Forgotten email={email} onEmail={setEmail} onLeave={() => setForgotten(false)} />;
  if (missing === undefined)
    return (
      <FirstStep
        provider={
          provider !== null && (
            <>
              <ProviderButton name={provider} then={then} />
              <Text size="sm" c="var(--svc-soft)">
                No password here? Use {provider}.
              </Text>
              <Divider label={passwords === "operators" ? "or, for operators" : "or"} />
            </>
          )
        }
        email={email}
        onEmail={setEmail}
        problem={expired}
        onForgotten={() => setForgotten(true)}
        onEnter={(factor) => {
          setExpired(null);
          if (factor === null) enter();
          else setMissing(factor);
        }}
      />
    );
  const leave = (problem: ApiProblem | null) => {
    setExpired(problem);
    setMissing(undefined);
  };
  return <SecondStep missing={missing} onDone={enter} onLeave={leave} />;
}

interface FirstStepProps {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  /** Of a second step that came too late. */
  readonly problem: ApiProblem | null;
  /** The button of the identity provider, if there is one. */
  readonly provider: ReactNode;
  /** With what is missing still; null: signed in. */
  readonly onEnter: (missing: MissingFactor | null) => void;
  readonly onForgotten: () => void;
}

function FirstStep(props: FirstStepProps) {
  const { email, onEmail, problem, onEnter, onForgotten, provider } = props;
  const { sends_mail: sendsMail } = useSession();
  const [password, setPassword] = useState("");
  const enter = useChange("POST /api/session", {
    onDone: ({ second_factor: missing }) => onEnter(missing),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter.mutate({ body: { email, password } });
  };
  return (
    <form onSubmit={submit}>
      <DoorHeader title="Sign in" />
      <Stack gap="md">
        {provider}
        <ErrorNotice problem={enter.error ?? problem} />
        <TextInput
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus={provider === false}
          value={email}
          onChange={(event) => onEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": "Show password" }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" size="md" fullWidth loading={enter.isPending}>
          Sign in
        </Button>
        <WithPasskey onDone={() => onEnter(null)} />
        {sendsMail ? (
          <Button variant="subtle" size="compact-sm" onClick={onForgotten}>
            Forgot your password?
          </Button>
        ) : (
          <Text size="sm" c="var(--svc-soft)">
            Forgot your password? Ask an operator for a reset link. First time here? Open the
            operator link that the server printed when it first started.
          </Text>
        )}
      </Stack>
    </form>
  );
}

/** A passkey that checks its user stands for the password, too. */
function WithPasskey({ onDone }: { readonly onDone: () => void }) {
  const [place] = useState(passkeyPlace);
  const enter = useWork(
    async () => {
      const { ticket, options } = await call("POST /api/session/passkey-options");
      if (options === null) return;
      const passkey = await askPasskey(options);
      await call("POST /api/session/passkey", { body: { ticket, passkey } });
    },
    { onDone },
  );
  if (place.kind === "loopback")
    return (
      <Text size="sm" c="var(--svc-soft)">
        Passkeys do not work at an IP address. To sign in with one, open{" "}
        <a href={place.href}>{new URL(place.href).host}</a>.
      </Text>
    );
  if (place.kind !== "ready") return null;
  return (
    <>
      <Divider label="or" />
      <ErrorNotice problem={enter.error} />
      <Button
        variant="default"
        size="md"
        fullWidth
        loading={enter.isPending}
        onClick={() => enter.mutate()}
      >
        Sign in with a passkey
      </Button>
    </>
  );
}
