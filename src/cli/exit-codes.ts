import { constants } from 'node:os'
import { isLockError, type LockError } from '../engine/errors/errors.ts'
import { UsageError } from './usage-error.ts'

export interface ExitCode {
  readonly code: number
  readonly meaning: string
}

export type ExitName =
  | 'ok'
  | 'failed'
  | 'usage'
  | 'unavailable'
  | 'internal'
  | 'notAcquired'
  | 'forbidden'
  | 'outdated'
  | 'lost'
  | 'cannotRun'
  | 'notFound'

/**
 * Every exit code that is not the command's own or a signal's. Those from 64 to 78 mean what BSD's
 * sysexits.h means by them; 79 is the first one after those, and commands rarely use it. `docs/cli.md`
 * has the same table; a test compares the two.
 */
export const EXIT_CODES: Readonly<Record<ExitName, ExitCode>> = Object.freeze({
  ok: { code: 0, meaning: 'It worked.' },
  failed: {
    code: 1,
    meaning: 'The server refused, or something else failed; the message says what.',
  },
  usage: { code: 64, meaning: 'The command line is wrong. Nothing was done.' },
  unavailable: { code: 69, meaning: 'The server cannot be reached, or its engine cannot work.' },
  internal: { code: 70, meaning: 'A defect of Holdfast, or damaged data.' },
  notAcquired: {
    code: 75,
    meaning: '`run`: the lock was not acquired in time. The command was not started.',
  },
  forbidden: { code: 77, meaning: 'The server does not know this token, or it lacks the right.' },
  outdated: {
    code: 78,
    meaning: 'The data were written by a newer version of Holdfast. Nothing was changed.',
  },
  lost: {
    code: 79,
    meaning: '`run`: the lock was lost while the command ran. The command was stopped.',
  },
  cannotRun: { code: 126, meaning: '`run`: the command was found and cannot be executed.' },
  notFound: { code: 127, meaning: '`run`: the command was not found.' },
})

/** How a process ends that a signal ended, as shells say it. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** The exit code of a failure outside of `run`. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof UsageError) return EXIT_CODES.usage.code
  if (isLockError(error)) return EXIT_CODES[exitNameOf(error)].code
  return EXIT_CODES.internal.code
}

function exitNameOf(error: LockError): ExitName {
  if (error.code === 'LOCK_STORAGE_NEWER') return 'outdated'
  switch (error.name) {
    case 'UnavailableError':
      return 'unavailable'
    case 'InvalidArgumentError':
      return 'usage'
    case 'ForbiddenError':
      return 'forbidden'
    case 'InternalError':
      return 'internal'
    default:
      return 'failed'
  }
}
