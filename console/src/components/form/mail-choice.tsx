import { Checkbox } from "@mantine/core";
import { useSession } from "../../session.tsx";

interface MailChoiceProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  /** Where it goes; empty: it must be entered first. */
  readonly email: string;
}

/** Whether a link is mailed. Not shown where the server sends no mail. */
export function MailChoice({ isOn, onChange, email }: MailChoiceProps) {
  const { sends_mail: isPossible } = useSession();
  const address = email.trim();
  if (!isPossible) return null;
  return (
    <Checkbox
      label={address === "" ? "Send the link by email" : `Send the link to ${address}`}
      description="Then it is not shown here."
      disabled={address === ""}
      checked={isOn && address !== ""}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
