import type { CliCommand } from './cli-command.ts'

/** A command by its name; the rest is loaded when it is called, so that each starts quickly. */
export interface ListedCommand {
  readonly name: string
  readonly summary: string
  load(): Promise<CliCommand>
}

/** Every command, in the order in which people meet them. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'serve',
    summary: 'run a lock server',
    load: async () => (await import('./commands/serve-command.ts')).serveCommand,
  },
  {
    name: 'run',
    summary: 'run a command while holding a lock',
    load: async () => (await import('./commands/run-command.ts')).runCommand,
  },
  {
    name: 'ls',
    summary: 'list what is held or waited for',
    load: async () => (await import('./commands/ls-command.ts')).lsCommand,
  },
  {
    name: 'show',
    summary: 'show who holds a key, who waits, since when',
    load: async () => (await import('./commands/show-command.ts')).showCommand,
  },
  {
    name: 'watch',
    summary: 'follow changes as they happen',
    load: async () => (await import('./commands/watch-command.ts')).watchCommand,
  },
  {
    name: 'history',
    summary: 'show who held what until lately, and how it ended',
    load: async () => (await import('./commands/history-command.ts')).historyCommand,
  },
  {
    name: 'release',
    summary: "end another owner's hold (--force)",
    load: async () => (await import('./commands/release-command.ts')).releaseCommand,
  },
  {
    name: 'repair',
    summary: 'make a damaged data directory usable again',
    load: async () => (await import('./commands/repair-command.ts')).repairCommand,
  },
  {
    name: 'bench',
    summary: 'measure a server for a few seconds',
    load: async () => (await import('./commands/bench-command.ts')).benchCommand,
  },
]
