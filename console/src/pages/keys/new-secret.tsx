import { Button, Group, Stack } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { firstCallSamples, modelToTry } from "../../components/code/samples.ts";
import { ShownOnce } from "../../components/code/shown-once.tsx";
import { DialogBody, useDialog } from "../../components/form/dialog.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { useSession } from "../../session.tsx";
import { type Model, type NewKey, nameOf } from "./key-draft.ts";
import classes from "./page.module.css";

interface NewSecretProps {
  readonly made: NewKey;
  readonly models: readonly Model[];
}

/** Takes the form's place. It is not closed by a stray key or click. */
export function NewSecret({ made, models }: NewSecretProps) {
  const [isLeaving, setLeaving] = useState(false);
  const dialog = useDialog();
  useEffect(() => {
    if (dialog === undefined) return undefined;
    dialog.guard.mayLeave = () => {
      setLeaving(true);
      return false;
    };
    return () => {
      dialog.guard.mayLeave = () => true;
    };
  }, [dialog]);
  return (
    <DialogBody title={`The secret of “${nameOf(made)}”`}>
      <Stack>
        <ShownOnce secret={made.key} what="the key">
          Copy the key now and store it where your program finds it. It is shown this once: nobody
          can show it again, not even an operator.
        </ShownOnce>
        {made.previous !== null && (
          <p>
            The old secret <code>{made.previous.hint}</code> works too, and ends{" "}
            <Moment at={made.previous.expires_at} />. Put the new one in its place before that.
          </p>
        )}
        {made.warnings.map((warning) => (
          <p key={warning} className={classes.warning}>
            <IconAlertTriangle size={16} /> {warning}
          </p>
        ))}
        <Samples made={made} models={models} />
        {isLeaving ? (
          <Leaving onStay={() => setLeaving(false)} />
        ) : (
          <Group justify="flex-end">
            <Button leftSection={<IconCheck size={16} />} onClick={dialog?.close}>
              I have stored it
            </Button>
          </Group>
        )}
      </Stack>
    </DialogBody>
  );
}

/** Takes the focus, and so is seen wherever one was in the dialog. */
function Leaving({ onStay }: { readonly onStay: () => void }) {
  const dialog = useDialog();
  const stay = useRef<HTMLButtonElement>(null);
  useEffect(() => stay.current?.focus(), []);
  return (
    <div role="alert" className={`notice ${classes.leaving}`} data-tone="bad">
      <p>
        <strong>Close it without having stored the key?</strong> Then its secret is lost, and you
        have to rotate the key to get another.
      </p>
      <Group justify="flex-end" gap="xs">
        <Button ref={stay} variant="default" onClick={onStay}>
          Go back
        </Button>
        <Button color="red" onClick={dialog?.close}>
          Close all the same
        </Button>
      </Group>
    </div>
  );
}

function Samples({ made, models }: NewSecretProps) {
  const { gateway_url: baseUrl } = useSession();
  const model = modelToTry(models, made.models);
  if (model === undefined)
    return <p className="soft">There is no model yet that this key may call.</p>;
  return (
    <section aria-label="First call">
      <h3 className={classes.heading}>Make a first call</h3>
      <CodeBlock
        what="the first call"
        samples={firstCallSamples({ baseUrl, model, key: made.key })}
      />
    </section>
  );
}
