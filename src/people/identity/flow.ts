/** One sign-in at the identity provider, on its way; sealed in a ticket. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE: the code is of no use without it. */
  readonly verifier: string;
  readonly redirectUri: string;
}
