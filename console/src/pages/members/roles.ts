import type { Role } from "../../session.tsx";

/** What each role may do, in the words of the page. */
export const roleWords: Readonly<Record<Role, { readonly label: string; readonly about: string }>> =
  {
    owner: {
      label: "Owner",
      about: "Everything a developer may, and who is a member, tokens and the audit log.",
    },
    developer: {
      label: "Developer",
      about:
        "Everything a viewer may, and makes, changes and revokes keys and uses the playground.",
    },
    viewer: {
      label: "Viewer",
      about: "Sees usage, requests, models, keys without their secrets, and the balance.",
    },
  };

export const roles = Object.keys(roleWords) as readonly Role[];
