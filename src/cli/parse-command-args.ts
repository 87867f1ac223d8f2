import { parseArgs, type ParseArgsConfig } from 'node:util'
import { findNearestName } from './nearest-name.ts'
import { UsageError } from './usage-error.ts'

export type OptionTable = NonNullable<ParseArgsConfig['options']>

type Parsed<Options extends OptionTable> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true; strict: true }>
>

/** The options and the words of a command line; throws a `UsageError` that names what is wrong. */
export function parseCommandArgs<Options extends OptionTable>(
  args: readonly string[],
  options: Options,
): Parsed<Options> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(explain(error as NodeJS.ErrnoException, Object.keys(options)))
  }
}

function explain(error: NodeJS.ErrnoException, known: readonly string[]): string {
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(error.message) ?? []
  if (unknown === undefined) return error.message.split('. ')[0] ?? error.message
  const nearest = findNearestName(unknown.replace(/^-+/, ''), known)
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`
  return `there is no option ${unknown}${hint}`
}

/** Exactly the words that a command takes. */
export function expectWords(words: readonly string[], names: readonly string[]): string[] {
  const missing = names[words.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing`)
  const extra = words[names.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`)
  return [...words]
}

/** One of a few words. */
export function parseChoice<Choice extends string>(
  value: string | undefined,
  option: string,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined) return undefined
  const chosen = choices.find((choice) => choice === value)
  if (chosen !== undefined) return chosen
  throw new UsageError(`${option} cannot be "${value}": use ${choices.join(' or ')}`)
}

export interface WholeNumberRule {
  readonly option: string
  readonly min: number
  readonly max: number
}

export function parseWholeNumber(value: string, { option, min, max }: WholeNumberRule): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${option} cannot be "${value}": use a whole number from ${min} to ${max}`)
}
