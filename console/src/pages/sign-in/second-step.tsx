import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { type ApiProblem, call, type Reply } from "../../api.ts";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { passkeyPlace } from "../../passkey-place.ts";
import { askPasskey } from "../../passkeys.ts";
import { useWork } from "../../queries.ts";

export type MissingFactor = NonNullable<Reply<"POST /api/session">["second_factor"]>;
type Way = MissingFactor["ways"][number];

interface SecondStepProps {
  readonly missing: MissingFactor;
  readonly onDone: () => void;
  /** Back to the first step: with what went wrong, or by choice. */
  readonly onLeave: (problem: ApiProblem | null) => void;
}

/** After the right password, or at the end of a link: a code, a passkey or a recovery code. */
export function SecondStep({ missing, onDone, onLeave }: SecondStepProps) {
  const { ways } = missing;
  const [way, setWay] = useState<Way | undefined>(ways[0]);
  const others = ways.filter((one) => one !== way);
  const answer = useAnswer({ missing, onDone, onLeave });
  const choose = (other: Way) => {
    answer.reset();
    setWay(other);
  };
  return (
    <>
      <DoorHeader title="Confirm that it is you" about={way && aboutWays[way]} />
      <Stack gap="md">
        {way === "passkey" && <PasskeyStep answer={answer} />}
        {(way === "totp" || way === "recovery") && (
          <CodeStep key={way} isRecovery={way === "recovery"} answer={answer} />
        )}
        {way === undefined && (
          <p>
            None of your second factors works at this address. Open the console at the address where
            you added your passkey, or ask an operator to remove your second factors.
          </p>
        )}
        <Group justify="space-between" gap="xs">
          {others.map((other) => (
            <Button key={other} variant="subtle" size="compact-sm" onClick={() => choose(other)}>
              {instead[other]}
            </Button>
          ))}
          <Button variant="subtle" size="compact-sm" onClick={() => onLeave(null)}>
            Start again
          </Button>
        </Group>
        {!ways.includes("passkey") && passkeyPlace().kind !== "ready" && (
          <Text size="sm" c="var(--svc-soft)">
            Passkeys do not work at this address.
          </Text>
        )}
      </Stack>
    </>
  );
}

const aboutWays: Readonly<Record<Way, string>> = {
  passkey: "Use one of your passkeys.",
  totp: "Enter the code that your authenticator app shows.",
  recovery: "Enter one of your recovery codes. Each works once.",
};

const instead: Readonly<Record<Way, string>> = {
  passkey: "Use a passkey",
  totp: "Use your app",
  recovery: "Use a recovery code",
};

type Answer = ReturnType<typeof useAnswer>;

function useAnswer({ missing, onDone, onLeave }: SecondStepProps) {
  const { ticket, passkey_options: options } = missing;
  const work = useWork(
    async (code: string | undefined) => {
      const given =
        code === undefined
          ? { passkey: options === null ? undefined : await askPasskey(options) }
          : { code };
      await call("POST /api/session/second-step", { body: { ticket, ...defined(given) } });
    },
    { onDone },
  );
  const { error } = work;
  const leave = useRef(onLeave);
  leave.current = onLeave;
  useEffect(() => {
    if (error?.code === "expired") leave.current(error);
  }, [error]);
  return work;
}

const defined = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

function PasskeyStep({ answer }: { readonly answer: Answer }) {
  return (
    <>
      <FormProblem problem={answer.error} fields={[]} />
      <Button
        size="md"
        fullWidth
        autoFocus
        loading={answer.isPending}
        onClick={() => answer.mutate(undefined)}
      >
        Use passkey
      </Button>
    </>
  );
}

interface CodeStepProps {
  readonly isRecovery: boolean;
  readonly answer: Answer;
}

function CodeStep({ isRecovery, answer }: CodeStepProps) {
  const [code, setCode] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { error } = answer;
  // A wrong code is typed over.
  useEffect(() => {
    if (error !== null) input.current?.select();
  }, [error]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    answer.mutate(code);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <FormProblem problem={error} fields={["code"]} />
        <TextInput
          ref={input}
          label={isRecovery ? "Recovery code" : "Code"}
          name="code"
          autoComplete={isRecovery ? "off" : "one-time-code"}
          inputMode={isRecovery ? "text" : "numeric"}
          autoCapitalize="none"
          spellCheck={false}
          required
          withAsterisk={false}
          autoFocus
          maxLength={40}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={fieldError(error, "code")}
        />
        <Button type="submit" size="md" fullWidth loading={answer.isPending}>
          Confirm
        </Button>
      </Stack>
    </form>
  );
}
