import { ActionIcon, type MantineColorScheme, useMantineColorScheme } from "@mantine/core";
import { type Icon, IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

interface Choice {
  readonly scheme: MantineColorScheme;
  readonly label: string;
  readonly icon: Icon;
}

const choices: readonly [Choice, ...Choice[]] = [
  { scheme: "auto", label: "system", icon: IconDeviceDesktop },
  { scheme: "light", label: "light", icon: IconSun },
  { scheme: "dark", label: "dark", icon: IconMoon },
];

/** Each press is the next one: as the system, light, dark. */
export function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const at = choices.findIndex(({ scheme }) => scheme === colorScheme);
  const current = choices[at] ?? choices[0];
  const next = choices[at + 1] ?? choices[0];
  const name = `Theme: ${current.label}. Switch to ${next.label}`;
  return (
    <ActionIcon
      size={32}
      aria-label={name}
      title={name}
      onClick={() => setColorScheme(next.scheme)}
    >
      <current.icon size={17} />
    </ActionIcon>
  );
}
