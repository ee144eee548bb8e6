import { Radio, Stack } from "@mantine/core";
import type { Reply } from "../../api.ts";
import { say } from "../../components/feedback/toasts.tsx";
import { FormDialog } from "../../components/form/form-dialog.tsx";
import { LinkRecipient } from "../../components/form/link-recipient.tsx";
import { ShownLink } from "../../components/form/shown-link.tsx";
import { useForm } from "../../components/form/use-form.ts";
import { type Role, useSession } from "../../session.tsx";
import { VerifiedForm } from "../me/factors/verified.tsx";

export type Member = Reply<"GET /api/accounts/:account/members">["members"][number];

export function InviteMember({ account }: { readonly account: string }) {
  const { sends_mail: mail } = useSession();
  const form = useForm({
    route: "POST /api/accounts/:account/invites",
    values: { role: "developer" as Role, email: "", mail },
    toInput: ({ role, email, mail: isMailed }) => ({
      params: { account },
      body: { role, ...(email.trim() && { email: email.trim(), mail: isMailed }) },
    }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <ShownLink title="Invite member" made={form.reply} />;
  return (
    <VerifiedForm form={form}>
      <FormDialog title="Invite member" form={form} submit="Create link">
        <RoleChoice
          value={form.values.role}
          onChange={(role) => form.edit({ role })}
          error={form.error("role")}
        />
        <LinkRecipient form={form} />
      </FormDialog>
    </VerifiedForm>
  );
}

interface ChangeRoleProps {
  readonly account: string;
  readonly member: Member;
}

export function ChangeRole({ account, member }: ChangeRoleProps) {
  const form = useForm({
    route: "PATCH /api/accounts/:account/members/:id",
    values: { role: member.role },
    toInput: (body) => ({ params: { account, id: member.id }, body }),
    onDone: (_, { role }) => say(`${nameOf(member)} is now ${withArticle(roleWords[role].label)}.`),
  });
  const { role } = form.values;
  return (
    <VerifiedForm form={form}>
      <FormDialog
        title={`Role of ${nameOf(member)}`}
        form={form}
        submit="Change role"
        isDisabled={role === member.role}
      >
        <RoleChoice
          value={role}
          onChange={(chosen) => form.edit({ role: chosen })}
          error={form.error("role")}
        />
      </FormDialog>
    </VerifiedForm>
  );
}

export const nameOf = ({ name, email }: Member) => (name === "" ? email : name);
const withArticle = (label: string) => `${label === "Owner" ? "an" : "a"} ${label.toLowerCase()}`;

interface RoleChoiceProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error?: string | undefined;
}

function RoleChoice({ value, onChange, error }: RoleChoiceProps) {
  return (
    <Radio.Group
      label="Role"
      value={value}
      onChange={(chosen) => onChange(roles.find((role) => role === chosen) ?? value)}
      error={error}
    >
      <Stack gap="sm" mt="xs">
        {roles.map((role) => (
          <Radio
            key={role}
            value={role}
            label={roleWords[role].label}
            description={roleWords[role].about}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** What each role may do, in the words of the page. */
export const roleWords: Readonly<Record<Role, { readonly label: string; readonly about: string }>> =
  {
    owner: {
      label: "Owner",
      about: "Everything developers can do, plus members, tokens and the audit log.",
    },
    developer: {
      label: "Developer",
      about: "Everything viewers can do, plus managing keys and using the playground.",
    },
    viewer: {
      label: "Viewer",
      about: "Can view usage, requests, models, keys (without secrets) and the balance.",
    },
  };

export const roles = Object.keys(roleWords) as readonly Role[];
