import { readFileSync } from 'node:fs'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInMarkdown,
  describeLimitsInMarkdown,
  describeOptions,
} from '../../../src/cli/settings/describe-settings.ts'
import { SETTINGS } from '../../../src/cli/settings/setting-table.ts'
import { readServeSettings } from '../../../src/cli/settings/read-serve-settings.ts'
import { parseTokenFile } from '../../../src/server/access/token-file.ts'
import { type Served, serve } from '../../server/served.ts'

const PAGE = readFileSync('docs/operations.md', 'utf8')

let served: Served

beforeAll(async () => {
  served = await serve()
})

afterAll(() => served.close())

it('the page has the tables of settings and limits', () => {
  expect(PAGE).toContain(`\n${describeInMarkdown()}\n`)
  expect(PAGE).toContain(`\n${describeLimitsInMarkdown()}\n`)
})

it('the help names every setting', () => {
  const help = describeOptions()
  for (const { name } of SETTINGS) expect(help).toMatch(new RegExp(`--(?:\\[no-\\])?${name} `))
})

it('every metric is on the page, and every metric of the page exists', async () => {
  const { text } = (await served.call('/metrics')).body
  const named = metricsOfPage(/\bholdfast_[a-z_]+\b/g).map((name) => name.replace(/_bucket$/, ''))
  expect([...new Set(named)].toSorted()).toEqual(metricsIn(String(text)).toSorted())
})

it('the metrics of the process that the page names exist', async () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const existing = metricsIn(await registry.metrics())
  const named = metricsOfPage(/\b(?:process|nodejs)_[a-z0-9_]+\b/g)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !existing.includes(name))).toEqual([])
})

function metricsIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? '')
}

function metricsOfPage(pattern: RegExp): string[] {
  const [, watching = ''] = PAGE.split('\n## Watching it\n')
  return [...watching.matchAll(pattern)].map(([name]) => name)
}

it('the files of the page are read as they stand', () => {
  const [config = '', tokens = ''] = [...PAGE.matchAll(/```toml\n([^]*?)```/g)].map(
    ([, text]) => text ?? '',
  )
  const settings = readServeSettings({ args: ['--config=f'], env: {}, readFile: () => config })
  expect(settings).toMatchObject({ data: '/var/lib/holdfast', limits: { waiters: 500 } })
  expect(parseTokenFile('f', tokens).map(({ principal }) => principal.name)).toEqual([
    'ops',
    'billing',
  ])
})
