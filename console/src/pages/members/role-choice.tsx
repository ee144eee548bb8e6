import { Radio, Stack } from "@mantine/core";
import type { Role } from "../../session.tsx";
import { roles, roleWords } from "./roles.ts";

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
