import { useState } from "react";
import { say } from "../../../components/feedback/toasts.tsx";
import { useDialog } from "../../../components/form/dialog.tsx";
import { PasskeySetup } from "./passkey-setup.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { TotpSetup } from "./totp-setup.tsx";
import { Verified } from "./verified.tsx";

export type FactorKind = "totp" | "passkey";

interface NewFactorProps {
  readonly kind: FactorKind;
  readonly onDone?: () => void;
}

/** All steps to a new factor: who it is, the factor, and the recovery codes that come with the first. */
export function NewFactor({ kind, onDone }: NewFactorProps) {
  const dialog = useDialog();
  const [codes, setCodes] = useState<readonly string[]>();
  const finish = () => {
    say(kind === "totp" ? "Authenticator app set up." : "Passkey added.");
    dialog?.close();
    onDone?.();
  };
  if (codes !== undefined) return <RecoveryCodes codes={codes} onDone={finish} />;
  const next = (made: readonly string[] | null) => {
    if (made === null) finish();
    else setCodes(made);
  };
  const Setup = kind === "totp" ? TotpSetup : PasskeySetup;
  return (
    <Verified>
      <Setup onDone={next} />
    </Verified>
  );
}
