import { TextInput } from "@mantine/core";
import type { ComponentProps } from "react";
import { MailChoice } from "./mail-choice.tsx";

interface LinkRecipientProps {
  readonly form: {
    readonly values: { readonly email: string; readonly mail: boolean };
    readonly edit: (part: { mail: boolean }) => void;
    readonly text: (
      name: "email",
    ) => Pick<ComponentProps<typeof TextInput>, "value" | "onChange" | "error">;
  };
  readonly label?: string;
  /** It has the focus when the dialog opens. */
  readonly isFirst?: boolean;
}

/** Who may use an invitation link, and whether it is mailed to them. */
export function LinkRecipient(props: LinkRecipientProps) {
  const { form, label = "Email (optional)", isFirst = false } = props;
  return (
    <>
      <TextInput
        label={label}
        description="Only this address can use the link."
        type="email"
        autoComplete="off"
        {...(isFirst && { "data-autofocus": true })}
        {...form.text("email")}
      />
      <MailChoice
        isOn={form.values.mail}
        onChange={(mail) => form.edit({ mail })}
        email={form.values.email}
      />
    </>
  );
}
