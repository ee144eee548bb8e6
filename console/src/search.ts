import { useNavigate, useSearch } from "@tanstack/react-router";

type Search = Readonly<Record<string, string | undefined>>;

/**
 * Filters live in the address, so that a view can be linked to and Back works:
 * `const [search, setSearch] = useSearchText(); setSearch({ status: "failed", cursor: undefined })`.
 */
export function useSearchText(): [Search, (change: Search) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  return [
    search,
    (change) =>
      void navigate({
        to: ".",
        search: (old: Search) => ({ ...old, ...change }),
        replace: true,
      }),
  ];
}

/**
 * A dialog that a link can open, as those of the command palette and the setup checklist do:
 * `const [isInviting, setInviting] = useOpened("new")`.
 */
export function useOpened(name: string): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [search, setSearch] = useSearchText();
  return [search[name] !== undefined, (isOpen) => setSearch({ [name]: isOpen ? "1" : undefined })];
}
