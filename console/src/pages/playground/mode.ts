import type { GatewayAccess } from "./gateway/gateway-access.ts";
import type { PlaygroundModel } from "./models.ts";

/** What each of the three modes is given. */
export interface ModeProps {
  readonly access: GatewayAccess;
  readonly baseUrl: string;
  /** Of the mode's endpoint; there is at least one. */
  readonly models: readonly PlaygroundModel[];
  readonly model: PlaygroundModel;
  readonly onModel: (id: string) => void;
}
