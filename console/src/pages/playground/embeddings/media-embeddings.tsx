import { Button } from "@mantine/core";
import { useState } from "react";
import { CodeButton } from "../code-button.tsx";
import { TroubleNotice } from "../gateway/trouble-notice.tsx";
import { useRun } from "../gateway/use-run.ts";
import type { ModeProps } from "../models.ts";
import shared from "../playground.module.css";
import { SettingsSide } from "../settings-side.tsx";
import { type Compared, Comparison } from "./comparison.tsx";
import { embed } from "./embed.ts";
import classes from "./embeddings.module.css";
import { MediaDrop } from "./media-drop.tsx";
import { type Media, useMedia } from "./use-media.ts";

const fewest = 2;
const sampleImage = "data:image/jpeg;base64,…";

export function MediaEmbeddings({ access, baseUrl, models, model, onModel }: ModeProps) {
  const media = useMedia();
  const [compared, setCompared] = useState<Compared>();
  const { isBusy, trouble, run } = useRun();
  const count = media.images.length + (media.video === undefined ? 0 : 1);
  const compare = () =>
    void run(async (signal) => {
      // A call takes images or a video, never both.
      const parts = await Promise.all(
        bodiesOf(model.id, media).map((body) => embed(access, { body, signal })),
      );
      setCompared({
        things: thingsOf(media),
        vectors: parts.flatMap(({ vectors }) => vectors),
        requestIds: parts.flatMap(({ requestId }) => requestId ?? []),
      });
    });
  const code = () => ({
    path: "/embeddings",
    baseUrl,
    body: bodiesOf(model.id, media)[0] ?? { model: model.id, input: [sampleImage] },
  });
  return (
    <div className={shared.layout}>
      <div className={classes.main}>
        <MediaDrop media={media} />
        <div className={classes.actions}>
          <Button loading={isBusy} disabled={count < fewest || media.isReading} onClick={compare}>
            Compare
          </Button>
          {count < fewest && <span className={classes.note}>Choose at least two files.</span>}
        </div>
        <TroubleNotice trouble={trouble} onRetry={compare} />
        {compared !== undefined && <Comparison compared={compared} />}
      </div>
      <SettingsSide label="Embeddings settings" models={models} model={model} onModel={onModel}>
        <p className="soft small below">
          This model embeds images and video. All vectors have the same length. Images and video are
          sent as two calls, each with its own receipt.
        </p>
        <CodeButton options={code} />
      </SettingsSide>
    </div>
  );
}

function bodiesOf(model: string, { images, video }: Media) {
  return [
    ...(images.length === 0 ? [] : [{ model, input: images.map(({ dataUri }) => dataUri) }]),
    ...(video === undefined
      ? []
      : [{ model, input: { video: { bytesBase64Encoded: video.base64 } } }]),
  ];
}

function thingsOf({ images, video }: Media) {
  return [
    ...images.map(({ name, dataUri }, at) => ({ mark: String(at + 1), name, picture: dataUri })),
    ...(video === undefined ? [] : [{ mark: "V", name: video.name }]),
  ];
}
