import { ActionIcon, type MantineColorScheme, useMantineColorScheme } from "@mantine/core";
import { Icon, type IconName } from "../components/layout/icons.tsx";

interface Choice {
  readonly scheme: MantineColorScheme;
  readonly label: string;
  readonly icon: IconName;
}

const choices: readonly [Choice, ...Choice[]] = [
  { scheme: "auto", label: "as the system", icon: "screen" },
  { scheme: "light", label: "light", icon: "sun" },
  { scheme: "dark", label: "dark", icon: "moon" },
];

/** Each press is the next one: as the system, light, dark. */
export function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const at = choices.findIndex(({ scheme }) => scheme === colorScheme);
  const current = choices[at] ?? choices[0];
  const next = choices[at + 1] ?? choices[0];
  const name = `Colours: ${current.label}. Switch to ${next.label}`;
  return (
    <ActionIcon
      size={32}
      aria-label={name}
      title={name}
      onClick={() => setColorScheme(next.scheme)}
    >
      <Icon name={current.icon} size={17} />
    </ActionIcon>
  );
}
