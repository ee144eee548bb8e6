import { Button, Group, Stack } from "@mantine/core";
import { IconCheck, IconDownload, IconPrinter } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { useDialog } from "../../../components/form/dialog.tsx";
import { saveFile } from "../../../format/save-file.ts";
import { useUser } from "../../../session.tsx";
import classes from "./factors.module.css";
import { Framed } from "./framed.tsx";

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}

/** Shown once, so it is not closed by a stray key or click. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const { email } = useUser();
  const dialog = useDialog();
  const done = useRef<HTMLButtonElement>(null);
  const [isLeaving, setLeaving] = useState(false);
  useEffect(() => {
    if (dialog === undefined) return undefined;
    dialog.guard.mayLeave = () => {
      setLeaving(true);
      done.current?.focus();
      return false;
    };
    return () => {
      dialog.guard.mayLeave = () => true;
    };
  }, [dialog]);
  const text = codes.join("\n");
  const file = () =>
    new Blob([`Recovery codes of ${email} for ${location.origin}\nEach works once.\n\n${text}\n`], {
      type: "text/plain",
    });
  return (
    <Framed title="Recovery codes">
      <Stack gap="md">
        <p>
          Store these codes where you keep your passwords. Each signs you in once if you lose your
          other factors. They are shown only now.
        </p>
        <div className={`${classes.codes} printed`}>
          <p className={classes.printedHead}>
            Recovery codes of {email} for {location.origin}
          </p>
          <ul aria-label="Recovery codes">
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
        </div>
        <Group gap="xs">
          <CopyButton text={text} what="the codes" isLarge />
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => saveFile(file(), "recovery-codes.txt")}
          >
            Download
          </Button>
          <Button
            variant="default"
            leftSection={<IconPrinter size={16} />}
            onClick={() => window.print()}
          >
            Print
          </Button>
        </Group>
        {isLeaving && (
          <p role="alert" className="notice">
            <strong>Store the codes first.</strong> Then select the button below.
          </p>
        )}
        <Group justify="flex-end">
          <Button ref={done} leftSection={<IconCheck size={16} />} onClick={onDone}>
            I have stored the codes
          </Button>
        </Group>
      </Stack>
    </Framed>
  );
}
