import { Link, Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Logo } from "../components/layout/logo.tsx";
import { SchemeToggle } from "./header/scheme-toggle.tsx";
import classes from "./signed-out.module.css";

/** Around sign-in and joining: one card, and nothing else to look at. */
export function SignedOut() {
  return (
    <DoorCard>
      <Outlet />
    </DoorCard>
  );
}

export function DoorCard({ children }: { readonly children: ReactNode }) {
  return (
    <div className={classes.page}>
      <div className={classes.corner}>
        <SchemeToggle />
      </div>
      <main className={classes.column}>
        <p className={classes.brand}>
          <Logo size={30} />
          svc gateway
        </p>
        <div className={classes.card}>{children}</div>
        <p className={classes.links}>
          <Link to="/reference">API reference</Link>
          <Link to="/changelog">Changelog</Link>
        </p>
      </main>
    </div>
  );
}
