/** Who pays. Keys belong to an account. */
export interface Account {
  readonly id: string;
  /** Unique: people may say it wherever a command asks for an account. */
  readonly name: string;
  readonly createdAtMs: number;
}

/** Implemented by the store. */
export interface AccountStore {
  list(): Promise<readonly Account[]>;
  find(idOrName: string): Promise<Account | undefined>;
  /** False when the name is taken. */
  insert(account: Account): Promise<boolean>;
}
