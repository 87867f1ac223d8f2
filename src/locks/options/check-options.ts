import { createError } from '../../engine/errors/errors.ts'

/** Refuses what is no options, before anything is done. */
export function assertOptions(options: unknown): void {
  if (options === undefined || (typeof options === 'object' && options !== null)) return
  const given = options === null ? 'null' : typeof options
  throw createError('LOCK_INVALID_ARGUMENT', `options have to be an object, not ${given}`)
}

/** A signal of another realm is one too, so its class is not asked for. */
export function assertSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined) return
  const isSignal =
    typeof signal === 'object' && signal !== null && typeof signal.addEventListener === 'function'
  if (isSignal && typeof signal.aborted === 'boolean') return
  throw createError('LOCK_INVALID_ARGUMENT', 'signal has to be an AbortSignal', {
    details: { option: 'signal' },
  })
}

export function assertFlag(value: unknown, option: string): asserts value is boolean {
  if (typeof value === 'boolean') return
  throw createError('LOCK_INVALID_ARGUMENT', `${option} has to be true or false`, {
    details: { option },
  })
}

export function assertFunction(run: unknown, what: string): asserts run is Function {
  if (typeof run === 'function') return
  throw createError('LOCK_INVALID_ARGUMENT', `${what} needs a function to run`)
}
