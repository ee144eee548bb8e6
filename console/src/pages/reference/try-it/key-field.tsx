import { Button, NativeSelect, PasswordInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { useChange } from "../../../queries.ts";
import type { Access } from "../access.ts";
import classes from "./try-it.module.css";

/** A key pasted by hand, or one of 15 minutes made with a click. */
export function KeyField({ access }: { readonly access: Access }) {
  return (
    <div className={classes.key}>
      <PasswordInput
        label="Key"
        placeholder="sk-svc-…"
        autoComplete="off"
        spellCheck={false}
        value={access.key}
        onChange={(event) => access.setKey(event.currentTarget.value.trim())}
        visibilityToggleButtonProps={{ "aria-label": "Show key" }}
      />
      {access.isSignedIn ? (
        <ShortKey access={access} />
      ) : (
        <p className="soft small">
          Paste one of your keys, or <Link to="/sign-in">sign in</Link> to create a 15-minute key.
        </p>
      )}
    </div>
  );
}

function ShortKey({ access }: { readonly access: Access }) {
  const { accounts, account, setAccount, setKey } = access;
  const make = useChange("POST /api/accounts/:account/playground-key", {
    onDone: ({ key }) => setKey(key),
  });
  if (account === undefined) return null;
  return (
    <>
      <div className={classes.short}>
        {accounts.length > 1 && (
          <NativeSelect
            label="Charged to"
            data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
            value={account.id}
            onChange={(event) => setAccount(event.currentTarget.value)}
          />
        )}
        <Button
          variant="default"
          loading={make.isPending}
          disabled={account.role === "viewer"}
          onClick={() => make.mutate({ params: { account: account.id } })}
        >
          Create 15-minute key
        </Button>
      </div>
      {account.role === "viewer" && (
        <p className="soft small">Viewers cannot create keys in this account. Paste one instead.</p>
      )}
      <ErrorNotice problem={make.error} />
    </>
  );
}
