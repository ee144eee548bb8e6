import { IconLock } from "@tabler/icons-react";
import { Outlet, useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { PageHeader } from "../components/layout/page-header.tsx";
import { useAccountId, useSession } from "../session.tsx";
import { GoTo } from "./go-to.tsx";

/** Around every page that is not public; the server decides, this only shows the way. */
export function SignedIn() {
  const { user } = useSession();
  const { pathname } = useLocation();
  const account = useAccountId();
  if (user === null) return <ToSignIn />;
  const isOther = account !== undefined && user.accounts.every(({ id }) => id !== account);
  if (!user.is_operator && (isOther || pathname.startsWith("/operator")))
    return (
      <>
        <PageHeader title="Not open to you" />
        <EmptyState
          icon={IconLock}
          title="Either it does not exist, or your role does not let you in"
          about="Choose one of your accounts above, or ask an owner to invite you."
        />
      </>
    );
  return <Outlet />;
}

/** Keeps where one was when it began: on the way, the address is the door's already. */
function ToSignIn() {
  const { href, pathname } = useLocation();
  const [then] = useState(pathname === "/" ? "" : `?${new URLSearchParams([["then", href]])}`);
  return <GoTo href={`/sign-in${then}`} />;
}
