import { UsageError } from '../usage-error.ts'

/** A setting that is wrong; the message says which one, where it came from, and why. */
export class SettingError extends UsageError {
  override readonly name: string = 'SettingError'

  constructor(source: string, why: string) {
    super(`${source}: ${why}`)
  }
}
