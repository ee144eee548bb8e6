import { Button, Group, Stack } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { CallSamples } from "../../components/code/call-samples.tsx";
import { modelToTry } from "../../components/code/samples.ts";
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
    <DialogBody title={`Secret of “${nameOf(made)}”`}>
      <Stack>
        <ShownOnce secret={made.key} what="the key">
          Copy this key now and store it safely. It is shown only once, and not even an operator can
          recover it.
        </ShownOnce>
        {made.previous !== null && (
          <p>
            The old secret <code>{made.previous.hint}</code> still works and expires{" "}
            <Moment at={made.previous.expires_at} />. Replace it before then.
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
              I have stored the key
            </Button>
          </Group>
        )}
      </Stack>
    </DialogBody>
  );
}

/** Takes the focus, so that it is seen from anywhere in the dialog. */
function Leaving({ onStay }: { readonly onStay: () => void }) {
  const dialog = useDialog();
  const stay = useRef<HTMLButtonElement>(null);
  useEffect(() => stay.current?.focus(), []);
  return (
    <div role="alert" className={`notice ${classes.leaving}`} data-tone="bad">
      <p>
        <strong>Close without storing the key?</strong> Its secret will be lost. To get a new one,
        you will have to rotate the key.
      </p>
      <Group justify="flex-end" gap="xs">
        <Button ref={stay} variant="default" onClick={onStay}>
          Go back
        </Button>
        <Button color="red" onClick={dialog?.close}>
          Close anyway
        </Button>
      </Group>
    </div>
  );
}

function Samples({ made, models }: NewSecretProps) {
  const { gateway_url: baseUrl } = useSession();
  const model = modelToTry(models, made.models);
  if (model === undefined) return <p className="soft">This key cannot call any model yet.</p>;
  return (
    <section aria-label="First call">
      <h3 className={classes.heading}>Make your first call</h3>
      <CallSamples what="the first call" baseUrl={baseUrl} model={model} secret={made.key} />
    </section>
  );
}
