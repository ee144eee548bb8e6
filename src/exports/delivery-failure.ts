/** Why a part did not get there, for people; without secrets. */
export class DeliveryFailure extends Error {
  /** It will not work before somebody changes something. */
  readonly isFinal: boolean;
  /** When the other side wants the next attempt. */
  readonly afterMs: number | undefined;
  /** Of the reply, where there was one. */
  readonly status: number | undefined;

  constructor(
    message: string,
    options: {
      readonly isFinal?: boolean;
      readonly afterMs?: number | undefined;
      readonly status?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.isFinal = options.isFinal ?? false;
    this.afterMs = options.afterMs;
    this.status = options.status;
  }
}
