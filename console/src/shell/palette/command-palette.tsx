import { Modal, TextInput, VisuallyHidden } from "@mantine/core";
import { type Icon, IconBolt, IconBuilding, IconSearch, IconUser } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useAccounts, useChosenAccountId, useSession } from "../../session.tsx";
import { navigationFor } from "../sidebar/navigation.ts";
import { type Action, actionsFor } from "./actions.ts";
import classes from "./command-palette.module.css";
import { useResults } from "./results.ts";

interface PaletteProps {
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
}

interface Entry {
  readonly label: string;
  readonly about: string;
  readonly icon: Icon;
  readonly href?: string;
  /** An action that has to know for which account. */
  readonly action?: Action;
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
      size={600}
      yOffset="14vh"
      centered={false}
      transitionProps={{ duration: 90 }}
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label="Search" radius="lg">
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
  const listId = useId();
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  // An action that needs an account, which is chosen next.
  const [pending, setPending] = useState<Action>();
  const { entries, isSearching } = useEntries({ wanted, pending });
  const chosen = Math.min(at, entries.length - 1);
  const restart = (action: Action | undefined) => {
    setPending(action);
    setWanted("");
    setAt(0);
  };
  const go = (entry: Entry | undefined) => {
    if (entry?.href !== undefined) {
      onDone();
      void navigate({ href: entry.href });
    } else if (entry?.action !== undefined) restart(entry.action);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a word is being composed, the keys belong to it.
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((chosen + step + entries.length) % Math.max(entries.length, 1));
    if (event.key === "Enter") go(entries[chosen]);
    if (event.key === "Backspace" && wanted === "" && pending !== undefined) restart(undefined);
    if (step !== 0 || event.key === "Enter") event.preventDefault();
  };
  const label =
    pending === undefined ? "Search pages, models, keys, requests" : "Choose an account";
  return (
    <>
      <TextInput
        data-autofocus
        variant="unstyled"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={listId}
        aria-activedescendant={entries.length === 0 ? undefined : `${listId}-${chosen}`}
        placeholder={pending === undefined ? label : `${pending.label}: ${label.toLowerCase()}`}
        className={classes.input}
        leftSection={<IconSearch size={18} />}
        maxLength={100}
        value={wanted}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setWanted(event.currentTarget.value);
          setAt(0);
        }}
      />
      <Results {...{ entries, chosen, listId, onPoint: setAt, onChoose: go }} />
      <p className={classes.none} role="status">
        {entries.length > 0 ? "" : isSearching ? "Searching…" : "No results."}
      </p>
      <VisuallyHidden role="status">
        {wanted === "" || isSearching ? "" : countWords(entries.length)}
      </VisuallyHidden>
    </>
  );
}

/** For screen readers: how many there are can be seen. */
function countWords(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 result" : `${count} results`;
}

interface ResultsProps {
  readonly entries: readonly Entry[];
  readonly chosen: number;
  readonly listId: string;
  readonly onPoint: (index: number) => void;
  readonly onChoose: (entry: Entry) => void;
}

function Results({ entries, chosen, listId, onPoint, onChoose }: ResultsProps) {
  return (
    <ul id={listId} role="listbox" aria-label="Results" className={classes.list}>
      {entries.map((entry, index) => (
        <li
          key={`${entry.about} ${entry.href ?? entry.label}`}
          id={`${listId}-${index}`}
          role="option"
          aria-selected={index === chosen}
          className={classes.entry}
          ref={(element) => {
            if (index === chosen) element?.scrollIntoView({ block: "nearest" });
          }}
          onPointerMove={() => onPoint(index)}
          onClick={() => onChoose(entry)}
        >
          <entry.icon size={17} />
          <span>{entry.label}</span>
          <small>{entry.about}</small>
        </li>
      ))}
    </ul>
  );
}

const mostAccounts = 50;

/** The pages of where one is, all of the operator's, actions, and what the platform finds. */
function useEntries(of: { readonly wanted: string; readonly pending: Action | undefined }): {
  readonly entries: readonly Entry[];
  readonly isSearching: boolean;
} {
  const { wanted, pending } = of;
  const { user } = useSession();
  const account = useChosenAccountId();
  const accounts = useAccounts();
  const { results, isSearching } = useResults(pending === undefined ? wanted : "");
  if (pending !== undefined) {
    const choices = accounts.map(({ id, name }) => ({
      label: name,
      about: pending.label,
      icon: IconBuilding,
      href: pending.hrefFor?.(id) ?? "",
    }));
    return { entries: matching(choices, wanted).slice(0, mostAccounts), isSearching: false };
  }
  const here = pagesOf(navigationFor(user, account));
  const known = new Set(here.map(({ href }) => href));
  const everywhere = pagesOf(navigationFor(user, undefined)).filter(({ href }) => !known.has(href));
  const own = [
    ...here,
    ...everywhere,
    ...(user === null ? [] : [{ label: "My profile", about: "You", icon: IconUser, href: "/me" }]),
    ...actionsFor(user, account).map((action) => toEntry(action, account ?? onlyOf(accounts))),
    // The platform finds those of an operator, however many there are.
    ...(user?.is_operator === true ? [] : accounts.map(toSwitch)),
  ];
  return { entries: [...matching(own, wanted), ...results], isSearching };
}

const onlyOf = (accounts: readonly { readonly id: string }[]) =>
  accounts.length === 1 ? accounts[0]?.id : undefined;

function toEntry(action: Action, account: string | undefined): Entry {
  const { label, icon = IconBolt, href, hrefFor } = action;
  const there = href ?? (account === undefined ? undefined : hrefFor?.(account));
  const shared = { label, about: "Action", icon };
  return there === undefined ? { ...shared, action } : { ...shared, href: there };
}

const toSwitch = ({ id, name }: { readonly id: string; readonly name: string }): Entry => ({
  label: name,
  about: "Switch to this account",
  icon: IconBuilding,
  href: `/a/${id}/overview`,
});

function matching(entries: readonly Entry[], wanted: string): readonly Entry[] {
  const words = wanted.toLowerCase().split(/\s+/);
  return entries.filter(({ label, about }) =>
    words.every((word) => `${label} ${about}`.toLowerCase().includes(word)),
  );
}

function pagesOf(groups: ReturnType<typeof navigationFor>): readonly Entry[] {
  return groups.flatMap(({ label: about, links }) =>
    links.map(({ label, icon, to }) => ({ label, about, icon, href: to })),
  );
}
