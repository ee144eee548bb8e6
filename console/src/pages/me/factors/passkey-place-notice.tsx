import type { PasskeyPlace } from "../../../passkey-place.ts";

/** Why passkeys do not work where the console was opened, and where they do. */
export function PasskeyPlaceNotice({ place }: { readonly place: PasskeyPlace }) {
  if (place.kind === "ready") return null;
  return (
    <div className="notice">
      {place.kind === "loopback" ? (
        <p>
          <strong>Passkeys need a host name.</strong> They do not work at an IP address such as{" "}
          {location.hostname}. Open <a href={place.href}>{place.href}</a> instead and sign in there
          once more: sessions belong to one address.
        </p>
      ) : (
        <p>
          <strong>{reasons[place.kind].title}</strong> {reasons[place.kind].about}
        </p>
      )}
    </div>
  );
}

const reasons = {
  address: {
    title: "Passkeys need a host name.",
    about:
      "They do not work at an IP address. Ask the operator to set SVC_PLATFORM_URL to an https address with a name.",
  },
  insecure: {
    title: "Passkeys need https.",
    about: "Ask the operator to serve the console over https (SVC_PLATFORM_URL).",
  },
  unsupported: {
    title: "This browser does not support passkeys.",
    about: "Use another browser, or an authenticator app.",
  },
} as const;
