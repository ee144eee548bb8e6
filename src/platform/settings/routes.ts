import { stat } from "node:fs/promises";
import { Type } from "../../base/json/type.ts";
import { type PlatformDependencies, route, type SettingView } from "../context.ts";
import { nullable } from "../http/schemas.ts";

const settingReply = Type.Object({
  name: Type.String({ description: "Name of the environment variable." }),
  in_file: nullable(Type.String({ description: "Name under `settings:` in svc.yaml." })),
  value: nullable(Type.String({ description: "Null if not set. Secrets are never shown." })),
  source: Type.String({ description: "environment, file or default." }),
  about: Type.String(),
});

export const settingsRoutes = [
  route("GET /api/settings", {
    about: "Lists the current settings, the source of each, and the data directory.",
    access: "operator",
    area: "settings",
    reply: Type.Object({
      version: Type.String(),
      gateway_url: Type.String(),
      platform_url: Type.String(),
      data_directory: nullable(Type.String()),
      database_bytes: nullable(Type.Integer({ description: "Including the write-ahead log." })),
      settings: Type.Array(settingReply),
    }),
    async handle({ dependencies }) {
      return {
        version: dependencies.version,
        gateway_url: dependencies.gatewayUrl(),
        platform_url: dependencies.platformUrl(),
        data_directory: valueOf(dependencies, "SVC_DATA_DIR"),
        database_bytes: await databaseBytes(dependencies),
        settings: dependencies.settings.map(toSetting),
      };
    },
  }),
] as const;

const toSetting = ({ nameInFile, ...setting }: SettingView) => ({
  ...setting,
  in_file: nameInFile,
});

function valueOf(
  { settings }: Pick<PlatformDependencies, "settings">,
  name: string,
): string | null {
  return settings.find((setting) => setting.name === name)?.value ?? null;
}

async function databaseBytes(dependencies: PlatformDependencies): Promise<number | null> {
  const path = valueOf(dependencies, "SVC_DATABASE_URL")?.replace(/^sqlite:/, "");
  if (path === undefined) return null;
  const size = (file: string) =>
    stat(file).then(
      (found) => found.size,
      () => undefined,
    );
  const main = await size(path);
  return main === undefined ? null : main + ((await size(`${path}-wal`)) ?? 0);
}
