/** In the order in which they are shown. */
export const checkGroups = [
  "machine",
  "configuration",
  "files",
  "listeners",
  "certificates",
  "mail",
  "telemetry",
  "database",
  "secret",
  "clock",
  "sign-in",
  "providers",
  "exports",
] as const;
export type CheckGroup = (typeof checkGroups)[number];

export type CheckState = "ok" | "warning" | "problem" | "skipped";

/** What one check found; `advice` says what to do where something is not right. */
export interface Check {
  readonly group: CheckGroup;
  readonly state: CheckState;
  readonly finding: string;
  readonly advice?: string | undefined;
}

export interface DoctorRequest {
  /** Also what takes long: reads the whole database. */
  readonly isDeep: boolean;
  /** The groups that are examined now. */
  readonly onGroups: (groups: readonly CheckGroup[]) => void;
}

/** What the command gets from the composition root. */
export interface DoctorWiring {
  readonly examine: (request: DoctorRequest) => Promise<readonly Check[]>;
}
