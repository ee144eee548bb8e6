import type { ModelListReply, ModelReply } from "./replies.ts";

/** What the model list says of a model. */
export interface ListedModel {
  readonly id: string;
  readonly createdAtMs: number;
  readonly ownedBy: string;
  readonly deprecation?: {
    readonly deprecatedAtMs: number;
    readonly retiresAtMs: number | undefined;
    readonly replacement: string | undefined;
  };
}

export function toModel({ id, createdAtMs, ownedBy, deprecation }: ListedModel): ModelReply {
  return {
    id,
    object: "model",
    created: toSeconds(createdAtMs),
    owned_by: ownedBy,
    ...(deprecation === undefined
      ? {}
      : {
          deprecated: true,
          deprecated_at: toSeconds(deprecation.deprecatedAtMs),
          retires_at:
            deprecation.retiresAtMs === undefined ? null : toSeconds(deprecation.retiresAtMs),
          replacement: deprecation.replacement ?? null,
        }),
  };
}

export function toModelList(models: readonly ListedModel[]): ModelListReply {
  return { object: "list", data: models.map(toModel) };
}

const toSeconds = (ms: number) => Math.floor(ms / 1000);
