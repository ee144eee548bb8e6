interface SecondFactorProps {
  readonly of: {
    readonly has_second_factor: boolean | null;
    readonly has_identity_factor: boolean | null;
  };
}

/** What a user proves besides a password, or through the identity provider. */
export function SecondFactor({ of }: SecondFactorProps) {
  if (of.has_second_factor === true) return "Yes";
  if (of.has_identity_factor === true) return "Identity provider";
  return <span className="soft">None</span>;
}
