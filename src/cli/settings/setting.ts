/** What a setting may be. Each kind is written the same way on the command line, in the environment and in a file. */
export type SettingKind =
  | { readonly is: 'text' }
  | { readonly is: 'whole'; readonly min: number; readonly max: number }
  | { readonly is: 'duration'; readonly minMs: number; readonly maxMs: number }
  | { readonly is: 'flag' }
  | { readonly is: 'choice'; readonly of: readonly string[] }
  | { readonly is: 'names' }
  | { readonly is: 'limits' }

/** One thing that an operator can choose. Flags, environment, file, help and documentation come from it. */
export interface Setting {
  /** As in `--session-grace`; the file has the same name, the environment `HOLDFAST_SESSION_GRACE`. */
  readonly name: string
  readonly kind: SettingKind
  /** What stands for the value in the help. */
  readonly takes?: string | undefined
  /** As it would be written; absent where there is none. */
  readonly default?: string | undefined
  readonly meaning: string
  /** A variable of the environment that older servers had for it. */
  readonly alsoVariable?: string | undefined
}

/** A value as it was given, not yet checked, and where. */
export interface GivenValue {
  readonly setting: Setting
  readonly raw: unknown
  /** As in `--port`, `HOLDFAST_PORT` or `serve.toml: port`. */
  readonly source: string
}

/** A config file that was named, and where: `--config` or `HOLDFAST_CONFIG`. */
export interface ConfigFile {
  readonly path: string
  readonly source: string
}
