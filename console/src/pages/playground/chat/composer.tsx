import { ActionIcon, Textarea } from "@mantine/core";
import { IconArrowUp, IconPhoto, IconPlayerStop, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import { FileButton } from "../file-button.tsx";
import { newId, toImageUri } from "../shrink-image.ts";
import classes from "./chat.module.css";
import type { Picture, Question } from "./conversation.ts";

const mostPictures = 4;

interface ComposerProps {
  readonly question: Question;
  readonly onChange: (question: Question) => void;
  readonly onSend: (question: Question) => void;
  readonly onStop: () => void;
  readonly isBusy: boolean;
  readonly takesImages: boolean;
}

export function Composer(props: ComposerProps) {
  const { question, onChange, onSend, onStop, isBusy, takesImages } = props;
  const [problem, setProblem] = useState("");
  const { text, pictures } = question;
  const isEmpty = text.trim() === "" && pictures.length === 0;
  const send = () => {
    if (!isBusy && !isEmpty) onSend(question);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a word is being composed, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const attach = async (files: readonly File[]) => {
    try {
      const added = await Promise.all(
        files.slice(0, mostPictures - pictures.length).map(toPicture),
      );
      setProblem("");
      onChange({ text, pictures: [...pictures, ...added] });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const remove = (id: string) =>
    onChange({ text, pictures: pictures.filter((picture) => picture.id !== id) });
  return (
    <div className={classes.dock}>
      <div className={classes.composer}>
        <Thumbnails pictures={pictures} onRemove={remove} />
        <Textarea
          aria-label="Message"
          // On a phone the keyboard would cover the page.
          autoFocus={matchMedia("(pointer: fine)").matches}
          placeholder="Message the model"
          variant="unstyled"
          autosize
          minRows={1}
          maxRows={10}
          value={text}
          onChange={({ currentTarget }) => onChange({ text: currentTarget.value, pictures })}
          onKeyDown={onKeyDown}
          classNames={{ input: classes.input ?? "" }}
        />
        <div className={classes.bar}>
          {takesImages && (
            <FileButton accept="image/*" isMany onFiles={(files) => void attach(files)}>
              {(open) => (
                <ActionIcon
                  size={32}
                  aria-label="Attach images"
                  disabled={pictures.length >= mostPictures}
                  onClick={open}
                >
                  <IconPhoto size={18} />
                </ActionIcon>
              )}
            </FileButton>
          )}
          <p className={classes.keys}>
            {problem === "" ? <Keys /> : <span role="alert">{problem}</span>}
          </p>
          <RoundButton isBusy={isBusy} isEmpty={isEmpty} onSend={send} onStop={onStop} />
        </div>
      </div>
    </div>
  );
}

interface RoundButtonProps {
  readonly isBusy: boolean;
  readonly isEmpty: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

function RoundButton({ isBusy, isEmpty, onSend, onStop }: RoundButtonProps) {
  const look = { size: 34, radius: "xl", variant: "filled" } as const;
  if (isBusy)
    return (
      <ActionIcon {...look} color="gray" aria-label="Stop" onClick={onStop}>
        <IconPlayerStop size={16} />
      </ActionIcon>
    );
  return (
    <ActionIcon {...look} color="lagoon" aria-label="Send" disabled={isEmpty} onClick={onSend}>
      <IconArrowUp size={16} />
    </ActionIcon>
  );
}

function Keys() {
  return (
    <span className={classes.keyWords}>
      <kbd>Enter</kbd> to send, <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line, <kbd>Esc</kbd> to
      stop
    </span>
  );
}

interface ThumbnailsProps {
  readonly pictures: readonly Picture[];
  readonly onRemove: (id: string) => void;
}

function Thumbnails({ pictures, onRemove }: ThumbnailsProps) {
  if (pictures.length === 0) return null;
  return (
    <ul className={classes.thumbnails} aria-label="Attached images">
      {pictures.map(({ id, name, dataUri }) => (
        <li key={id}>
          <img src={dataUri} alt={name} />
          <ActionIcon
            size={24}
            variant="filled"
            color="dark"
            radius="xl"
            aria-label={`Remove ${name}`}
            onClick={() => onRemove(id)}
          >
            <IconX size={12} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}

async function toPicture(file: File): Promise<Picture> {
  return { id: newId(), name: file.name, dataUri: await toImageUri(file) };
}
