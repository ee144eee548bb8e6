/** Three ways in, one way out: what a gateway is. */
export function Logo({ size = 24 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#0b6d76" />
      <path
        d="M7 9.5h4.5c3 0 3.5 6.5 6.5 6.5M7 22.5h4.5c3 0 3.5-6.5 6.5-6.5M7 16h11"
        fill="none"
        stroke="#a6dde0"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <circle cx="22.5" cy="16" r="3.8" fill="#ffffff" />
    </svg>
  );
}
