import { useEffect, useRef, useState } from "react";
import { newId, toImageUri } from "../shrink-image.ts";
import { readVideo, type Video } from "./read-video.ts";

export const mostImages = 8;

export interface MediaImage {
  readonly id: string;
  readonly name: string;
  readonly dataUri: string;
}

/** The files that were chosen, made fit to be sent, and what is wrong with those that are not. */
export function useMedia() {
  const [images, setImages] = useState<readonly MediaImage[]>([]);
  const [video, setVideo] = useState<Video>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isReading, setReading] = useState(false);
  const url = useRef<string>(undefined);
  const replaceVideo = (next: Video | undefined) => {
    if (url.current !== undefined) URL.revokeObjectURL(url.current);
    url.current = next?.url;
    setVideo(next);
  };
  useEffect(
    () => () => {
      if (url.current !== undefined) URL.revokeObjectURL(url.current);
    },
    [],
  );
  const add = async (files: readonly File[]) => {
    setReading(true);
    const found: string[] = [];
    const added: MediaImage[] = [];
    for (const file of files)
      try {
        if (file.type.startsWith("video/")) replaceVideo(await readVideo(file));
        else if (images.length + added.length >= mostImages)
          found.push(`${file.name} was not added. You can compare up to eight images.`);
        else
          added.push({
            id: newId(),
            name: file.name,
            dataUri: await toImageUri(file),
          });
      } catch (error) {
        found.push(error instanceof Error ? error.message : String(error));
      }
    setImages([...images, ...added]);
    setProblems(found);
    setReading(false);
  };
  return {
    images,
    video,
    problems,
    isReading,
    add,
    removeImage: (id: string) => setImages(images.filter((image) => image.id !== id)),
    removeVideo: () => replaceVideo(undefined),
  };
}

export type Media = ReturnType<typeof useMedia>;
