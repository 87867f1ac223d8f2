import { LIMIT_TABLE } from './limit-table.ts'
import type { Setting } from './setting.ts'
import { SETTINGS } from './setting-table.ts'
import { toVariable } from './read-environment.ts'

/** The options as the help shows them. */
export function describeOptions(): string {
  const rows = [
    ...SETTINGS.map((setting) => [toFlag(setting), toMeaning(setting)] as const),
    ['--config FILE', 'settings from a file, TOML or JSON'] as const,
  ]
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return rows.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`).join('\n')
}

/** The limits as the help shows them. */
export function describeLimits(): string {
  return Object.entries(LIMIT_TABLE)
    .map(([name, rule]) => `  ${name.padEnd(12)} ${rule.default.padEnd(8)} ${rule.meaning}`)
    .join('\n')
}

/** The same as a table of the documentation. */
export function describeInMarkdown(): string {
  const rows = SETTINGS.map((setting) => {
    const { name, alsoVariable, default: text, meaning } = setting
    const variables = [toVariable(name), alsoVariable].flatMap((one) => (one ? [`\`${one}\``] : []))
    const value = text === undefined ? '' : `\`${text}\``
    return `| \`${toFlag(setting)}\` | ${variables.join(', ')} | ${value} | ${meaning} |`
  })
  return ['| flag | environment | default | meaning |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  )
}

export function describeLimitsInMarkdown(): string {
  const rows = Object.entries(LIMIT_TABLE).map(
    ([name, { default: text, meaning }]) => `| \`${name}\` | \`${text}\` | ${meaning} |`,
  )
  return ['| limit | default | of what |', '| --- | --- | --- |', ...rows].join('\n')
}

function toFlag({ name, kind, takes }: Setting): string {
  if (kind.is === 'flag') return `--[no-]${name}`
  return `--${name} ${takes ?? 'VALUE'}`
}

function toMeaning({ meaning, default: text }: Setting): string {
  const plain = meaning.replaceAll('`', '')
  return text === undefined ? plain : `${plain} (${text})`
}
