import type { ReactNode } from "react";

/** Drawn by hand on a grid of 24, with a stroke of 1.5. */
const drawings = {
  overview: <path d="M4 19V11M9.3 19V5M14.7 19v-6M20 19V8" />,
  requests: <path d="M4 6h16M4 12h16M4 18h10" />,
  key: (
    <>
      <circle cx="8" cy="15" r="4" />
      <path d="m11 12 8.5-8.5M16 7l2.5 2.5M13.5 9.5 15 11" />
    </>
  ),
  model: (
    <>
      <path d="m12 3 8 4.5v9L12 21l-8-4.5v-9L12 3Z" />
      <path d="m4 7.5 8 4.5 8-4.5M12 12v9" />
    </>
  ),
  playground: <path d="M5 5.5 10 12l-5 6.5M12 19h7" />,
  billing: (
    <>
      <rect x="3" y="5.5" width="18" height="13" rx="2.5" />
      <path d="M3 10h18M7 15h4" />
    </>
  ),
  members: (
    <>
      <circle cx="9" cy="8.5" r="3.5" />
      <path d="M2.5 19.5c.6-3.3 3.1-5 6.5-5s5.9 1.7 6.5 5M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14.9c2 .7 3.2 2.3 3.5 4.6" />
    </>
  ),
  token: (
    <>
      <rect x="4" y="10" width="16" height="10" rx="2.5" />
      <path d="M8 10V7.5a4 4 0 0 1 8 0V10M12 14v2.5" />
    </>
  ),
  audit: (
    <>
      <path d="M6 3.5h8.5L19 8v12.5H6v-17Z" />
      <path d="M14 3.5V8.5h5M9 12.5h7M9 16.5h5" />
    </>
  ),
  provider: (
    <>
      <rect x="3.5" y="4" width="17" height="6.5" rx="2" />
      <rect x="3.5" y="13.5" width="17" height="6.5" rx="2" />
      <path d="M7 7.25h.01M7 16.75h.01M11 7.25h6M11 16.75h6" />
    </>
  ),
  catalog: (
    <path d="M4 4h6.5v6.5H4V4ZM13.5 4H20v6.5h-6.5V4ZM4 13.5h6.5V20H4v-6.5ZM13.5 13.5H20V20h-6.5v-6.5Z" />
  ),
  price: (
    <>
      <path d="M12.5 3.5H20V11l-9 9-7.5-7.5 9-9Z" />
      <path d="M16 8h.01" />
    </>
  ),
  account: (
    <>
      <path d="M4 20.5V5.5l8-2.5v17.5M12 9l8 2v9.5M2.5 20.5h19" />
      <path d="M8 8.5h.01M8 12.5h.01M8 16.5h.01M16 14h.01M16 17h.01" />
    </>
  ),
  margin: <path d="m3.5 16 5.5-6 4 4 7.5-8M15.5 6h5v5" />,
  engine: (
    <>
      <rect x="7" y="7" width="10" height="10" rx="2" />
      <path d="M10 3.5V7M14 3.5V7M10 17v3.5M14 17v3.5M3.5 10H7M3.5 14H7M17 10h3.5M17 14h3.5" />
    </>
  ),
  settings: (
    <>
      <path d="M4 7h9M18 7h2M4 17h2M11 17h9" />
      <circle cx="15.5" cy="7" r="2.5" />
      <circle cx="8.5" cy="17" r="2.5" />
    </>
  ),
  person: (
    <>
      <circle cx="12" cy="8" r="4" />
      <path d="M4.5 20.5c.8-4 3.6-6 7.5-6s6.7 2 7.5 6" />
    </>
  ),
  changelog: (
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7v5l3.5 2" />
    </>
  ),
  reference: (
    <path d="M12 6.5C10 4.8 7.5 4.3 4 4.5v14c3.5-.2 6 .3 8 2 2-1.7 4.5-2.2 8-2v-14c-3.5-.2-6 .3-8 2Zm0 0v14" />
  ),
  search: (
    <>
      <circle cx="11" cy="11" r="6.5" />
      <path d="m16 16 4.5 4.5" />
    </>
  ),
  copy: (
    <>
      <rect x="9" y="9" width="11" height="11" rx="2" />
      <path d="M15 9V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h3" />
    </>
  ),
  check: <path d="m5 12.5 4.5 4.5L19 7.5" />,
  cross: <path d="M6 6l12 12M18 6 6 18" />,
  plus: <path d="M12 5v14M5 12h14" />,
  more: <path d="M5.5 12h.01M12 12h.01M18.5 12h.01" strokeWidth={2.5} />,
  sun: (
    <>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M5.6 18.4l1.1-1.1M17.3 6.7l1.1-1.1" />
    </>
  ),
  moon: <path d="M20 14.2A8.5 8.5 0 0 1 9.8 4a8.5 8.5 0 1 0 10.2 10.2Z" />,
  screen: (
    <>
      <rect x="3" y="4.5" width="18" height="12" rx="2" />
      <path d="M9 20.5h6M12 16.5v4" />
    </>
  ),
  menu: <path d="M4 7h16M4 12h16M4 17h16" />,
  chevronDown: <path d="m6 9.5 6 6 6-6" />,
  chevronRight: <path d="m9.5 6 6 6-6 6" />,
  upDown: <path d="m8 9.5 4-4 4 4M8 14.5l4 4 4-4" />,
  arrowRight: <path d="M4.5 12h15M13.5 6l6 6-6 6" />,
  external: (
    <path d="M13.5 4.5h6v6M19.5 4.5 11 13M17 13.5v5a1 1 0 0 1-1 1H5.5a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1h5" />
  ),
  download: <path d="M12 4v11M7 10.5l5 5 5-5M4.5 20h15" />,
  upload: <path d="M12 16V5M7 9.5l5-5 5 5M4.5 20h15" />,
  refresh: <path d="M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9.3M20 4v5.3h-5.3" />,
  warning: <path d="M12 4 2.8 19.5h18.4L12 4ZM12 10v4.5M12 17.2h.01" />,
  info: (
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 11v5M12 8h.01" />
    </>
  ),
  trash: <path d="M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10.5 11v5M13.5 11v5" />,
  edit: <path d="m5 19 .8-3.8L15.5 5.5l3 3L8.8 18.2 5 19Z" />,
  play: <path d="M8 5.5v13l10-6.5-10-6.5Z" />,
  stop: <rect x="6.5" y="6.5" width="11" height="11" rx="1.5" />,
  send: <path d="M12 19V5M6 11l6-6 6 6" />,
  signOut: (
    <path d="M14.5 4.5H6a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1h8.5M10.5 12H21M17.5 8.5 21 12l-3.5 3.5" />
  ),
  live: (
    <>
      <circle cx="12" cy="12" r="2" />
      <path d="M7.8 16.2a6 6 0 0 1 0-8.4M16.2 7.8a6 6 0 0 1 0 8.4M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14" />
    </>
  ),
  filter: <path d="M4 6h16M7 12h10M10 18h4" />,
  image: (
    <>
      <rect x="3.5" y="4.5" width="17" height="15" rx="2.5" />
      <circle cx="8.5" cy="9.5" r="1.5" />
      <path d="m4 17.5 5-4.5 3.5 3 3.5-3.5 4.5 4" />
    </>
  ),
  sound: <path d="M4 9.5v5h3.5l5 4v-13l-5 4H4ZM16 9a4.2 4.2 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11" />,
} satisfies Readonly<Record<string, ReactNode>>;

export type IconName = keyof typeof drawings;

/** Always beside words or inside a control that has a name: it says nothing to a screen reader. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5 * Math.max(1, 20 / size)}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {drawings[name]}
    </svg>
  );
}
