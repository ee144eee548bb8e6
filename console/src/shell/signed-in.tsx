import { IconBuilding, IconLock } from "@tabler/icons-react";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { PageHeader } from "../components/layout/page-header.tsx";
import { lastAccount, useAccountId, useSession, useUser } from "../session.tsx";

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
        <PageHeader title="No access" />
        <EmptyState
          icon={IconLock}
          title="This page does not exist or your role does not allow it"
          about="Choose one of your accounts above, or ask an owner to invite you."
        />
      </>
    );
  return <Outlet />;
}

/** Keeps the address that it began with: on the way, it is that of the sign-in page already. */
function ToSignIn() {
  const { href, pathname } = useLocation();
  const [then] = useState(pathname === "/" ? "" : `?${new URLSearchParams([["then", href]])}`);
  return <Redirect href={`/sign-in${then}`} />;
}

/** Leads people who have signed in to where they were, or to where their work is. */
export function Home() {
  const user = useUser();
  const kept = lastAccount.get();
  if (user.is_operator) return <Redirect href="/operator/overview" />;
  const account = user.accounts.find(({ id }) => id === kept) ?? user.accounts[0];
  if (account !== undefined) return <Redirect href={`/a/${account.id}/overview`} />;
  return (
    <>
      <PageHeader title="Welcome" about={`You are signed in as ${user.email}.`} />
      <EmptyState
        icon={IconBuilding}
        title="You are not a member of any account yet"
        about="Ask an account owner for an invitation link and open it in this browser."
      />
    </>
  );
}

/** Navigates once; the router's own component navigates again on every render. */
export function Redirect({ href }: { readonly href: string }) {
  const navigate = useNavigate();
  useEffect(() => void navigate({ href, replace: true }), [navigate, href]);
  return null;
}
