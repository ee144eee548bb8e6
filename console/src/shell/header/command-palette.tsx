import { Modal, TextInput } from "@mantine/core";
import { type Icon, IconBuilding, IconSearch, IconUser } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useAccounts, useChosenAccountId, useSession } from "../../session.tsx";
import { navigationFor } from "../sidebar/navigation.ts";
import classes from "./command-palette.module.css";

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
}

interface Entry {
  readonly label: string;
  readonly about: string;
  readonly icon: Icon;
  readonly to: string;
}

/** Ctrl-K, or ⌘-K: a few letters, Enter, there. */
export function CommandPalette({ isOpen, onChange }: PaletteProps) {
  const [hasGone, setGone] = useState(false);
  useEffect(() => {
    if (isOpen) setGone(false);
  }, [isOpen]);
  return (
    <Modal.Root
      opened={isOpen}
      onClose={() => onChange(false)}
      // Who went to a page begins there; who gave up is back where they were.
      returnFocus={!hasGone}
      size={560}
      yOffset="14vh"
      centered={false}
      transitionProps={{ duration: 90 }}
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label="Quick navigation" radius="lg">
        <Finder
          onDone={() => {
            setGone(true);
            onChange(false);
          }}
        />
      </Modal.Content>
    </Modal.Root>
  );
}

function Finder({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate();
  const entries = useEntries();
  const listId = useId();
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const words = wanted.toLowerCase().split(/\s+/);
  const found = entries.filter(({ label, about }) =>
    words.every((word) => `${label} ${about}`.toLowerCase().includes(word)),
  );
  const chosen = Math.min(at, found.length - 1);
  const go = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onDone();
    void navigate({ to: entry.to });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((chosen + step + found.length) % Math.max(found.length, 1));
    if (event.key === "Enter") go(found[chosen]);
    if (step !== 0 || event.key === "Enter") event.preventDefault();
  };
  return (
    <>
      <TextInput
        data-autofocus
        variant="unstyled"
        role="combobox"
        aria-label="Search pages and accounts"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length === 0 ? undefined : `${listId}-${chosen}`}
        placeholder="Search pages and accounts"
        className={classes.input}
        leftSection={<IconSearch size={18} />}
        value={wanted}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setWanted(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id={listId} role="listbox" aria-label="Results" className={classes.list}>
        {found.map((entry, index) => (
          <li
            key={`${entry.about} ${entry.to}`}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className={classes.entry}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: "nearest" });
            }}
            onPointerMove={() => setAt(index)}
            onClick={() => go(entry)}
          >
            <entry.icon size={17} />
            <span>{entry.label}</span>
            <small>{entry.about}</small>
          </li>
        ))}
      </ul>
      <p className={classes.none} role="status">
        {found.length === 0 ? "No results." : ""}
      </p>
    </>
  );
}

/** The pages of where one is, then all of the operator's, then the accounts. */
function useEntries(): readonly Entry[] {
  const { user } = useSession();
  const account = useChosenAccountId();
  const accounts = useAccounts();
  const here = toEntries(navigationFor(user, account));
  if (user === null) return here;
  const known = new Set(here.map(({ to }) => to));
  const everywhere = toEntries(navigationFor(user, undefined)).filter(({ to }) => !known.has(to));
  return [
    ...here,
    ...everywhere,
    { label: "My profile", about: "You", icon: IconUser, to: "/me" },
    ...accounts.map(
      ({ id, name }): Entry => ({
        label: name,
        about: "Switch to this account",
        icon: IconBuilding,
        to: `/a/${id}/overview`,
      }),
    ),
  ];
}

function toEntries(groups: ReturnType<typeof navigationFor>): readonly Entry[] {
  return groups.flatMap(({ label: about, links }) =>
    links.map(({ label, icon, to }) => ({ label, about, icon, to })),
  );
}
