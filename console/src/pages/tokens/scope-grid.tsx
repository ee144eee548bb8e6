import { Button, Checkbox, Input } from "@mantine/core";
import { useId } from "react";
import type { Scope } from "../../../../src/people/role.ts";
import classes from "./page.module.css";
import { areaChoices, type Preset, presets, type TokenKind, withScope } from "./scopes.ts";

interface ScopeGridProps {
  readonly kind: TokenKind;
  readonly value: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
  readonly onPreset: (preset: Preset) => void;
  readonly error?: string | undefined;
}

export function ScopeGrid({ kind, value, onChange, onPreset, error }: ScopeGridProps) {
  const id = useId();
  return (
    <fieldset className={classes.scopes} aria-describedby={error === undefined ? undefined : id}>
      <legend>Scopes</legend>
      <div className={classes.presets} role="group" aria-label="Presets">
        {presets[kind].map((preset) => (
          <Button
            key={preset.label}
            size="compact-xs"
            variant={isSame(preset.scopes, value) ? "light" : "default"}
            aria-pressed={isSame(preset.scopes, value)}
            onClick={() => onPreset(preset)}
          >
            {preset.label}
          </Button>
        ))}
      </div>
      <table className={classes.grid} aria-label="Scopes">
        <thead>
          <tr>
            <th scope="col">Area</th>
            <th scope="col">Read</th>
            <th scope="col">Write</th>
          </tr>
        </thead>
        <tbody>
          {areaChoices[kind].map(({ area, about, isWritable }) => {
            const mayWrite = value.includes(`${area}:write`);
            return (
              <tr key={area}>
                <th scope="row">
                  {area}
                  <span>{about}</span>
                </th>
                <td>
                  <Checkbox
                    aria-label={`Read ${area}`}
                    checked={mayWrite || value.includes(`${area}:read`)}
                    disabled={mayWrite}
                    onChange={(event) =>
                      onChange(withScope(value, `${area}:read`, event.currentTarget.checked))
                    }
                  />
                </td>
                <td>
                  {isWritable && (
                    <Checkbox
                      aria-label={`Write ${area}`}
                      checked={mayWrite}
                      onChange={(event) =>
                        onChange(withScope(value, `${area}:write`, event.currentTarget.checked))
                      }
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {error !== undefined && (
        <Input.Error id={id} role="alert">
          {error}
        </Input.Error>
      )}
    </fieldset>
  );
}

const isSame = (one: readonly Scope[], other: readonly Scope[]) =>
  one.length === other.length && one.every((scope) => other.includes(scope));
