import { escapeControls } from './escape-controls.ts'

/** From the most talkative to the quietest. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogFields = Readonly<Record<string, unknown>>

export interface LogOptions {
  readonly level: LogLevel
  /** `json`: one object per line, for machines; `pretty`: one line for people. */
  readonly form: 'json' | 'pretty'
  readonly write: (line: string) => void
  /** The time of day, in milliseconds. */
  readonly wallMs: () => number
}

/**
 * What happens in a server, a line each. Names that clients chose may be in it, so control characters
 * are escaped: no name forges a line or drives a terminal. Callers leave secrets out.
 */
export class Log {
  readonly #options: LogOptions
  readonly #threshold: number

  constructor(options: LogOptions) {
    this.#options = options
    this.#threshold = LOG_LEVELS.indexOf(options.level)
  }

  /** Lets a caller save the work for a line that is not written. */
  get isDebug(): boolean {
    return this.#threshold === 0
  }

  debug(message: string, fields?: LogFields): void {
    this.#line('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#line('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#line('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#line('error', message, fields)
  }

  #line(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#threshold) return
    const { form, wallMs, write } = this.#options
    const time = new Date(wallMs()).toISOString()
    const line =
      form === 'json'
        ? JSON.stringify({ time, level, message, ...fields })
        : `${time.slice(11, 23)} ${level.padEnd(5)} ${message}${showFields(fields)}`
    write(`${escapeControls(line)}\n`)
  }
}

/** For servers without a log. */
export const NO_LOG: Log = new Log({
  level: 'silent',
  form: 'json',
  write: () => {},
  wallMs: () => 0,
})

function showFields(fields: LogFields): string {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const shown =
      typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value)
    text += ` ${name}=${shown}`
  }
  return text
}
