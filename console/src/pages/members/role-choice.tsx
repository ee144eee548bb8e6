import { Radio, Stack } from "@mantine/core";
import type { Role } from "../../session.tsx";

interface RoleChoiceProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error?: string | undefined;
}

export function RoleChoice({ value, onChange, error }: RoleChoiceProps) {
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
      about: "Everything a developer may, and who is a member, tokens and the audit log.",
    },
    developer: {
      label: "Developer",
      about:
        "Everything a viewer may, and makes, changes and revokes keys and uses the playground.",
    },
    viewer: {
      label: "Viewer",
      about: "Sees usage, requests, models, keys without their secrets, and the balance.",
    },
  };

export const roles = Object.keys(roleWords) as readonly Role[];
