import { Link, Outlet } from "@tanstack/react-router";
import { Logo } from "../components/layout/logo.tsx";
import { SchemeToggle } from "./header/scheme-toggle.tsx";
import classes from "./signed-out.module.css";

/** Around sign-in and joining: one card, and nothing else to look at. */
export function SignedOut() {
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
        <div className={classes.card}>
          <Outlet />
        </div>
        <p className={classes.links}>
          <Link to="/reference">API reference</Link>
          <Link to="/changelog">Changelog</Link>
        </p>
      </main>
    </div>
  );
}
