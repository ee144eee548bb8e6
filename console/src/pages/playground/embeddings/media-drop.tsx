import { ActionIcon, Button } from "@mantine/core";
import { IconPhoto, IconUpload, IconX } from "@tabler/icons-react";
import { type DragEvent, useState } from "react";
import { FileButton } from "../file-button.tsx";
import classes from "./embeddings.module.css";
import type { Media } from "./use-media.ts";

/** Where images and a video are dropped or chosen, and those that are there. */
export function MediaDrop({ media }: { readonly media: Media }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void media.add([...event.dataTransfer.files]);
  };
  return (
    <div>
      <section
        aria-label="Images and video to compare"
        className={classes.drop}
        data-over={isOver}
        data-small={media.images.length > 0 || media.video !== undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <IconPhoto size={24} />
        <p>
          <strong>Drop up to eight images and one video here</strong>
          <br />
          Images are scaled down to 300 kB in your browser. Videos are sent unchanged: MP4 or WebM,
          up to 6 seconds and 300 kB.
        </p>
        <FileButton
          accept="image/*,video/mp4,video/webm"
          isMany
          onFiles={(files) => void media.add(files)}
        >
          {(open) => (
            <Button
              variant="default"
              leftSection={<IconUpload size={16} />}
              loading={media.isReading}
              onClick={open}
            >
              Choose files
            </Button>
          )}
        </FileButton>
      </section>
      <div role="alert" className={classes.problems}>
        {media.problems.map((problem) => (
          <p key={problem}>{problem}</p>
        ))}
      </div>
      <Chosen media={media} />
    </div>
  );
}

function Chosen({ media }: { readonly media: Media }) {
  const { images, video, removeImage, removeVideo } = media;
  if (images.length === 0 && video === undefined) return null;
  return (
    <ul className={classes.chosen} aria-label="Chosen files">
      {images.map(({ id, name, dataUri }, at) => (
        <li key={id}>
          <img src={dataUri} alt={name} />
          <Caption mark={String(at + 1)} name={name} onRemove={() => removeImage(id)} />
        </li>
      ))}
      {video !== undefined && (
        <li>
          <video src={video.url} muted controls playsInline aria-label={video.name} />
          <Caption mark="V" name={video.name} onRemove={removeVideo} />
        </li>
      )}
    </ul>
  );
}

interface CaptionProps {
  readonly mark: string;
  readonly name: string;
  readonly onRemove: () => void;
}

function Caption({ mark, name, onRemove }: CaptionProps) {
  return (
    <div className={classes.caption}>
      <b>{mark}</b>
      <span title={name}>{name}</span>
      <ActionIcon size={24} aria-label={`Remove ${name}`} onClick={onRemove}>
        <IconX size={14} />
      </ActionIcon>
    </div>
  );
}
