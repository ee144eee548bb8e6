import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconMenu2, IconSearch } from "@tabler/icons-react";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Logo } from "../components/layout/logo.tsx";
import { lastAccount, useAccountId, useSession } from "../session.tsx";
import classes from "./frame.module.css";
import { AccountSwitcher } from "./header/account-switcher.tsx";
import { SchemeToggle } from "./header/scheme-toggle.tsx";
import { UserMenu } from "./header/user-menu.tsx";
import { lazyDialog } from "./lazy-dialog.tsx";
import { NavigationProgress } from "./page-states.tsx";
import { Sidebar } from "./sidebar/sidebar.tsx";
import { useWarmUp } from "./warm-up.ts";

const CommandPalette = lazyDialog<{
  readonly isOpen: boolean;
  readonly onChange: (isOpen: boolean) => void;
}>(async () => (await import("./palette/command-palette.tsx")).CommandPalette);

/** What stays while pages change: the way around on the left, who and where on top. */
export function Frame() {
  const { user } = useSession();
  const account = useAccountId();
  const { pathname } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  useHotkeys([["mod+K", () => setSearching((is) => !is)]], []);
  useWarmUp();
  const burger = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [pathname]);
  const looksAtAll = pathname.startsWith("/operator");
  useEffect(() => {
    if (account !== undefined) lastAccount.set(account);
    else if (looksAtAll) lastAccount.clear();
  }, [account, looksAtAll]);
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        Skip to content
      </a>
      <NavigationProgress />
      <Sidebar
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
          burger.current?.focus();
        }}
      />
      <div className={classes.sheet}>
        <header className={classes.header}>
          <button
            type="button"
            ref={burger}
            className={classes.burger}
            aria-label="Open menu"
            aria-expanded={isOpen}
            onClick={() => setOpen(true)}
          >
            <IconMenu2 size={20} />
          </button>
          {user === null ? (
            <Link to="/" className={classes.brand}>
              <Logo size={22} />
              svc gateway
            </Link>
          ) : (
            <AccountSwitcher />
          )}
          <div className={classes.space} />
          <button type="button" className={classes.search} onClick={() => setSearching(true)}>
            <IconSearch size={15} />
            <span>Search…</span>
            <kbd aria-hidden="true">{isMac ? "⌘ K" : "Ctrl K"}</kbd>
          </button>
          <SchemeToggle />
          {user === null ? (
            <Button component={Link} to="/sign-in" size="xs">
              Sign in
            </Button>
          ) : (
            <UserMenu />
          )}
        </header>
        <main id="content" tabIndex={-1} className={classes.content}>
          <Outlet />
        </main>
      </div>
      <CommandPalette isOpen={isSearching} onChange={setSearching} />
    </div>
  );
}

const isMac = navigator.userAgent.includes("Mac");
